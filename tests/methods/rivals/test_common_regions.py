"""Learning by a choice of regions: what counts when they are chosen, and in new images."""

from __future__ import annotations

import numpy as np
import pytest

from samples import random_bags, some_relations
from tag2box.arrays import Array
from tag2box.errors import ShapeError
from tag2box.methods.floors import objectness_odds
from tag2box.methods.rivals import CommonRegions, common_regions
from tag2box.rows import softmax
from tag2box.types import ProposalBag


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_new_region_is_asked_about_every_chosen_one_both_ways_round() -> None:
    network, bags, new = some_relations(), random_bags(0, images=3), random_bags(5, images=1)[0]
    found = CommonRegions(network).learn(bags, [], rng())
    expected: Array = np.zeros(len(new))
    for bag, row in zip(bags, found.localization.rows, strict=True):
        one, seen = network.project(bag).at(np.array([row])), network.project(new)
        expected = expected + (network.table(one, seen)[0] + network.table(seen, one)[:, 0]) / 2
    np.testing.assert_allclose(found.score(new), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(found.choice.rows, found.localization.rows)


def test_objectness_counts_in_the_choice_and_in_new_images() -> None:
    network, bags, new = some_relations(), random_bags(1, images=3), random_bags(6, images=1)[0]
    heavy = CommonRegions(network, objectness_weight=1000.0).learn(bags, [], rng())
    assert heavy.localization.rows.tolist() == [int(bag.objectness.argmax()) for bag in bags]
    some = CommonRegions(network, objectness_weight=0.5).learn(bags, [], rng())
    plain = CommonRegions(network).learn(bags, [], rng())
    if plain.localization.rows.tolist() == some.localization.rows.tolist():
        np.testing.assert_allclose(some.score(new), plain.score(new) + 0.5 * objectness_odds(new), rtol=1e-5)
    assert int(heavy.score(new).argmax()) == int(new.objectness.argmax())


def test_likeness_to_negatives_speaks_against_a_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common_regions, "HARDEST", 3)
    network, bags = some_relations(), random_bags(2, images=3)
    negatives = random_bags(3, images=2)
    learner = CommonRegions(network, negatives_weight=100.0)
    found = learner.learn(bags, negatives, rng())
    expected = [int(penalty(network_table(learner, bag, negatives)).argmin()) for bag in bags]
    assert found.localization.rows.tolist() == expected
    assert CommonRegions(network).learn(bags, negatives, rng()).localization.rows.tolist() != expected


def network_table(learner: CommonRegions, bag: ProposalBag, negatives: list[ProposalBag]) -> list[Array]:
    """For each region, its relation to the three regions of negatives that look most like it."""
    others = np.concatenate([each.features for each in negatives])
    tables = []
    for x in bag.features:
        hardest = others[np.argsort(-(others @ x), kind="stable")[:3]]
        seen, against = learner.network.projected(x[None]), learner.network.projected(hardest)
        tables.append(learner.network.table(seen, against)[0].astype(float))
    return tables


def penalty(tables: list[Array]) -> Array:
    return np.array([softmax(scores)[0] @ scores for scores in tables])


def test_weights_below_zero_are_refused() -> None:
    with pytest.raises(ShapeError, match="objectness weight"):
        CommonRegions(some_relations(), objectness_weight=-1.0)
