"""From locations of several looks to candidates: what is kept, what is cut, in which order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_boxes
from tag2box.boxes import box_overlaps
from tag2box.extract import Look, SeenPhoto, as_photo
from tag2box.extract.proposals import (
    STRIDES,
    ProposalRules,
    best_proposals,
    final_rows,
    first_proposals,
    inside_photo,
    location_centers,
)
from tag2box.training.detector.network import locations

WIDTH, HEIGHT = 48, 32
"""Of the photo in the first look; the closer one sees it twice as large."""


def test_locations_are_those_of_the_network() -> None:
    for side in (64, 96, 480):
        centers, levels = locations(side)
        np.testing.assert_array_equal(location_centers((side, side)), centers.numpy())
        assert len(np.unique(levels.numpy())) == len(STRIDES)


@given(st.integers(0, 2**32 - 1), st.floats(1.0, 480.0), st.floats(1.0, 480.0))
def test_boxes_end_up_inside_with_a_few_pixels_at_least(seed: int, height: float, width: float) -> None:
    boxes = random_boxes(np.random.default_rng(seed), 20, side=800.0) - 200.0
    cut = inside_photo(boxes, height, width)
    assert (cut >= 0).all()
    assert (cut[:, 2:] <= np.array([width, height], dtype=np.float32)).all()
    sides = cut[:, 2:] - cut[:, :2]
    assert (sides >= np.minimum(4.0, [width, height]) - 1e-3).all()
    within = ((boxes[:, :2] >= 0) & (boxes[:, 2:] <= [width, height])).all(axis=1)
    large = (boxes[:, 2:] - boxes[:, :2] >= 4.0).all(axis=1)
    np.testing.assert_allclose(cut[within & large], boxes[within & large], rtol=1e-5, atol=1e-4)


def one_box_everywhere(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Boxes of one pixel more than a stride around every location, and qualities that fall along the rows."""
    centers, levels = locations(side)
    strides = np.array(STRIDES)[levels.numpy()][:, None]
    boxes = np.concatenate([centers.numpy() - strides / 2, centers.numpy() + strides / 2 + 1], axis=1)
    return boxes, np.linspace(0.9, 0.1, len(boxes), dtype=np.float32)


def test_locations_beside_the_photo_say_nothing() -> None:
    boxes, quality = one_box_everywhere(128)
    kept, scores = best_proposals(boxes, quality, (128, 128), 40.0, 60.0, 1500)
    assert len(kept) == 7 * 5 + 4 * 2 + 2 * 1 + 1 * 1  # columns times rows on the photo
    assert (np.diff(scores) < 0).all()


def test_the_best_are_considered() -> None:
    boxes, quality = one_box_everywhere(64)
    kept, scores = best_proposals(boxes, quality[::-1], (64, 64), 64.0, 64.0, 3)
    np.testing.assert_array_equal(kept, boxes[[-1, -2, -3]].clip(0, 64))
    np.testing.assert_array_equal(scores, quality[:3])


def test_both_stages_decide_which_regions_stay() -> None:
    boxes = np.array([[0, 0, 10, 10], [20, 0, 30, 10], [40, 0, 50, 10]], dtype=np.float32)
    first = np.array([0.9, 0.5, 0.6], dtype=np.float32)
    second = np.array([0.1, 0.5, 0.4], dtype=np.float32)
    for weight, wanted in ((0.0, [0, 2]), (1.0, [1, 2]), (0.3, [2, 0])):
        assert final_rows(boxes, first, second, ProposalRules(second_weight=weight), 2).tolist() == wanted


@given(st.integers(0, 2**32 - 1))
def test_no_two_regions_overlap_more_than_the_rules_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = random_boxes(rng, 60).astype(np.float32)
    scores = rng.uniform(size=60).astype(np.float32)
    rows = final_rows(boxes, scores, scores, ProposalRules(final_overlap=0.5), 300)
    overlaps = box_overlaps(boxes[rows], boxes[rows]) - np.eye(len(rows))
    assert (overlaps <= 0.5).all()


def a_look(side: int, boxes: dict[int, list[float]], quality: dict[int, float]) -> Look:
    """A look that believes in a few boxes only, by location; elsewhere it proposes specks."""
    centers = location_centers((side, side))
    all_boxes = np.concatenate([centers - 2, centers + 2], axis=1).astype(np.float32)
    all_quality = np.full(len(centers), 0.01, dtype=np.float32)
    for place, box in boxes.items():
        all_boxes[place], all_quality[place] = box, quality[place]
    return Look((side, side), HEIGHT * side // 64, WIDTH * side // 64, all_boxes, all_quality, {})


def seen_twice(first: Look, closer: Look) -> SeenPhoto:
    pixels = np.zeros((HEIGHT, WIDTH, 3), dtype=np.uint8)
    return SeenPhoto(as_photo(pixels, 48, 96), (first, closer))


def test_boxes_of_every_look_come_in_pixels_of_the_first() -> None:
    first = a_look(64, {0: [0, 0, 40, 30]}, {0: 0.9})
    closer = a_look(128, {0: [10, 20, 30, 40], 2: [60, 4, 80, 24]}, {0: 0.8, 2: 0.95})
    found = first_proposals(seen_twice(first, closer), ProposalRules(corrected=3))
    np.testing.assert_allclose(found.boxes, [[30, 2, 40, 12], [0, 0, 40, 30], [5, 10, 15, 20]])
    np.testing.assert_allclose(found.quality, [0.95, 0.9, 0.8])
    assert found.look.tolist() == [1, 0, 1]


@pytest.mark.parametrize(("first_belief", "winner"), [(0.9, 0), (0.6, 1)])
def test_what_both_looks_see_is_kept_once(first_belief: float, winner: int) -> None:
    first = a_look(64, {0: [5, 10, 15, 20]}, {0: first_belief})
    closer = a_look(128, {0: [10, 20, 30, 41]}, {0: 0.8})
    found = first_proposals(seen_twice(first, closer), ProposalRules(first_overlap=0.6))
    assert found.look[0] == winner
    assert found.quality[1] == pytest.approx(0.01)  # the other one is gone


def test_as_many_of_each_look_are_considered() -> None:
    first = a_look(64, {0: [0, 0, 9, 9], 1: [20, 0, 29, 9], 2: [0, 20, 9, 29]}, {0: 0.9, 1: 0.8, 2: 0.7})
    closer = a_look(128, {0: [60, 40, 70, 50]}, {0: 0.1})
    found = first_proposals(seen_twice(first, closer), ProposalRules(considered=2))
    assert found.quality[:3] == pytest.approx([0.9, 0.8, 0.1])
