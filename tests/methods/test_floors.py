"""Floors: they look at one photo at a time, and at nothing that was learned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_bag, random_bags
from tag2box.methods.floors import Floor, RegionScore, objectness, random_region, whole_image
from tag2box.types import ProposalBag

FLOORS: dict[str, RegionScore] = {"objectness": objectness, "chance": random_region, "whole image": whole_image}


@pytest.mark.parametrize("name", FLOORS)
def test_a_photo_has_the_same_answer_in_any_company(name: str) -> None:
    bags = random_bags(0, images=5)
    together = Floor(FLOORS[name]).learn(bags, [], np.random.default_rng(0)).localization
    for place, bag in enumerate(bags):
        alone = Floor(FLOORS[name]).learn([bag], bags, np.random.default_rng(1)).localization
        assert (alone.rows[0], alone.scores[0]) == (together.rows[place], together.scores[place])
        assert together.scores[place] == FLOORS[name](bag).max()
    assert not together.doubt.any()


@given(st.text(), st.text())
def test_chance_depends_on_the_name_of_a_photo_and_on_nothing_else_in_it(first: str, second: str) -> None:
    """Whatever alphabet the name is written in; a zero byte at its end, which no name has, would not count."""
    rng = np.random.default_rng(0)
    one, same = random_bag(rng, image_id=first), random_bag(rng, image_id=first)
    np.testing.assert_array_equal(random_region(one), random_region(same))
    if first.rstrip("\0") != second.rstrip("\0"):
        assert not np.array_equal(random_region(one), random_region(random_bag(rng, image_id=second)))


def test_chance_prefers_no_region() -> None:
    bag = random_bag(np.random.default_rng(0), regions=5)
    named = [ProposalBag(str(n), bag.boxes, bag.features, bag.objectness, bag.norms) for n in range(2000)]
    rows = Floor(random_region).learn(named, [], np.random.default_rng(0)).localization.rows
    np.testing.assert_allclose(np.bincount(rows, minlength=5) / 2000, 0.2, atol=0.04)


def test_of_regions_that_are_objects_alike_the_first_is_taken() -> None:
    bag = random_bag(np.random.default_rng(0), regions=5)
    even = ProposalBag("a", bag.boxes, bag.features, np.array([0.1, 0.7, 0.7, 0.2, 0.7], np.float32), bag.norms)
    assert Floor(objectness).learn([even], [], np.random.default_rng(0)).localization.rows.tolist() == [1]
