"""A correction: the region that was pointed at comes ahead of the wrong one, by as little as that needs."""

from __future__ import annotations

import numpy as np
import pytest

from samples import random_bags, random_units
from tag2box.errors import ShapeError
from tag2box.methods.localizers import NO_BACKGROUND, Clamps, SceneMil, VmfMil
from tag2box.methods.localizers.leaning import LeaningBackground, lean
from tag2box.types import ProposalBag

BOXES = [[0, 0, 100, 100], [0, 0, 40, 40], [2, 2, 42, 42], [50, 50, 90, 90], [60, 10, 95, 40]]


def photo(seed: int = 0) -> ProposalBag:
    return ProposalBag.from_raw("p", BOXES, random_units(np.random.default_rng(seed), 5, 8), np.full(5, 0.5))


def seen(bag: ProposalBag) -> ProposalBag:
    return bag


def test_the_known_region_leads_by_the_margin_and_no_shorter_change_does_that() -> None:
    bag, scores = photo(), np.array([0.0, 1.0, 9.0, 3.0, 2.0])
    leaning = lean(lambda bag: scores, seen, [bag], Clamps({0: 1}), 1.5)
    assert leaning is not None
    leaned = scores - LeaningBackground(leaning).log_score(bag)
    assert leaned[1] - leaned[3] == pytest.approx(1.5, abs=1e-5)  # 2 is in the same place, 3 is the best wrong one
    apart = bag.features[1].astype(float) - bag.features[3]
    shortest = (1.5 - (scores[1] - scores[3])) / np.linalg.norm(apart)
    assert np.linalg.norm(leaning) == pytest.approx(shortest, rel=1e-5)


def test_nothing_leans_where_the_known_region_leads_already() -> None:
    assert lean(lambda bag: np.array([0.0, 5.0, 0.0, 3.9, 0.0]), seen, [photo()], Clamps({0: 1}), 1.0) is None


def test_nothing_leans_where_no_region_is_wrong_or_none_differs() -> None:
    scores = np.arange(5.0)
    rows = random_units(np.random.default_rng(0), 2, 8)
    alone = ProposalBag.from_raw("p", [[0, 0, 40, 40], [2, 2, 40, 40]], rows, np.full(2, 0.5))
    assert lean(lambda bag: scores[:2], seen, [alone], Clamps({0: 0}), 1.0) is None
    same = ProposalBag.from_raw(
        "p", BOXES, np.tile(random_units(np.random.default_rng(0), 1, 8), (5, 1)), np.full(5, 0.5)
    )
    assert lean(lambda bag: scores, seen, [same], Clamps({0: 1}), 1.0) is None


def test_several_corrections_add_up() -> None:
    bags = [photo(1), photo(2)]
    scores = {bag: np.arange(5.0) for bag in bags}
    both, first, second = (
        lean(lambda bag: scores[bag], seen, bags, Clamps(known), 2.0) for known in ({0: 1, 1: 3}, {0: 1}, {1: 3})
    )
    assert both is not None
    assert first is not None
    assert second is not None
    np.testing.assert_allclose(both, first + second)


def test_a_direction_of_another_dimension_is_refused() -> None:
    with pytest.raises(ShapeError, match="lean"):
        LeaningBackground(np.ones(3)).log_score(photo())


def test_a_method_that_leans_would_find_the_known_regions_itself() -> None:
    """Without a lead, EM holds a known region and would still look elsewhere in that photo."""
    method = SceneMil(VmfMil(20.0, NO_BACKGROUND), 0.0, 0.0, 0.0)
    held, led = 0, 0
    for seed in range(20):
        bags = random_bags(seed, images=4)
        clamps = Clamps({0: len(bags[0]) - 1})
        leads = (0.0, 1.0)
        ends = method.learn_ends(bags, [], np.random.default_rng(0), clamps, leads)
        alone = method.learn(bags, [], np.random.default_rng(0), clamps)
        np.testing.assert_array_equal(ends[0].localization.rows, alone.localization.rows)
        for lead, found in zip(leads, ends, strict=True):
            assert found.localization.rows[0] == len(bags[0]) - 1
            right = int(found.score(bags[0]).argmax()) == len(bags[0]) - 1
            held, led = held + (right and not lead), led + (right and lead > 0)
    assert led > held
