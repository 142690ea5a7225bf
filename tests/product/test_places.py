"""Other places of a thing: what is offered, and what a click means, by their definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planted_decoys import DECEIVED, DECOY, THING, by_hand
from samples import random_boxes
from tag2box.arrays import log_odds
from tag2box.boxes import box_overlaps
from tag2box.product.learning import Lesson, learn_class
from tag2box.product.places import ASIDE, LIKENESS_COUNTS, MOST_OFFERED, SAME, SAME_CLICKED, TOO_ALIKE, Places

SEEDS = st.integers(0, 10**6)


def some_places(seed: int, count: int = 30) -> tuple[Places, tuple[float, float, float, float]]:
    """Places at random, and the box that is there already: one of them."""
    rng = np.random.default_rng(seed)
    boxes = random_boxes(rng, count).astype(np.float32)
    x0, y0, x1, y1 = map(float, boxes[rng.integers(count)])
    return Places(boxes, rng.normal(0, 4, count)), (x0, y0, x1, y1)


@given(SEEDS)
def test_offers_are_the_likeliest_that_are_neither_there_nor_alike(seed: int) -> None:
    places, here = some_places(seed)
    apart = box_overlaps(places.boxes, np.array([here], dtype=np.float32))[:, 0] <= SAME
    expected: list[int] = []
    for row in sorted(np.flatnonzero(apart).tolist(), key=lambda each: -places.scores[each]):
        overlaps = box_overlaps(places.boxes[[row]], places.boxes[expected])
        if len(expected) < MOST_OFFERED and not (overlaps > TOO_ALIKE).any():
            expected.append(row)
    assert places.offered(here).tolist() == expected


@given(SEEDS, st.floats(0, 100), st.floats(0, 100))
def test_a_click_means_the_likeliest_region_around_it_whose_middle_is_not_far(seed: int, x: float, y: float) -> None:
    places, here = some_places(seed)
    scores: dict[int, float] = {}
    for row, (x0, y0, x1, y1) in enumerate(places.boxes.astype(float)):
        same = box_overlaps(places.boxes[[row]], np.array([here], dtype=np.float32))[0, 0]
        if row and x0 <= x <= x1 and y0 <= y <= y1 and same <= SAME_CLICKED and x1 > x0 and y1 > y0:
            aside = max(abs((x0 + x1) / 2 - x) / (x1 - x0), abs((y0 + y1) / 2 - y) / (y1 - y0))
            scores[row] = places.scores[row] - ASIDE * aside**2
    meant = places.around((x, y), here)
    if not scores:
        assert meant is None
    else:
        assert meant is not None
        assert scores[meant] == pytest.approx(max(scores.values()))


def test_where_nothing_was_found_every_region_is_another_place_and_a_click_never_means_the_whole_photo() -> None:
    boxes = np.array([[0, 0, 100, 100], [5, 5, 95, 95], [10, 10, 40, 40]], dtype=np.float32)
    places = Places(boxes, np.array([2.0, 1.0, 0.0]))
    assert places.offered(None).tolist() == [0, 2]
    assert places.around((25, 25), None) == 2  # in its middle
    assert places.around((70, 70), None) == 1
    assert places.around((97, 50), None) is None  # but for the whole photo


def test_places_go_by_likeness_and_objectness_or_by_objectness_alone(tmp_path: Path) -> None:
    _, store, model = by_hand(tmp_path / "store", DECEIVED)
    one = learn_class(Lesson("one", tuple(f"one-{number}" for number in range(4))), store, model)
    bag = store.bag("one-5")
    odds = log_odds(bag.objectness.astype(float), 1e-4)
    np.testing.assert_allclose(Places.of(bag, None, model).scores, odds)
    found = Places.of(bag, one, model)
    cosines = (
        model.learner.localizer.seen_rows(bag.features) @ model.learner.localizer.from_centered(one.direction[None])[0]
    )
    np.testing.assert_allclose(found.scores, LIKENESS_COUNTS * one.kappa * cosines + odds, atol=1e-4)
    assert bag.boxes[int(found.scores.argmax())].tolist() == DECOY  # the decoy is clearer than the thing
    here = (10.0, 10.0, 40.0, 40.0)
    assert bag.boxes[found.around((75, 25), here) or 0].tolist() == THING
