"""SILCO's modules: each image is asked by the others."""

from __future__ import annotations

import numpy as np
import pytest

from samples import random_bags, some_silco
from tag2box.errors import ShapeError
from tag2box.methods.floors import objectness_odds
from tag2box.methods.rivals import Silco

NETWORK = some_silco()


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_where_the_thing_is_in_an_image_the_others_say() -> None:
    bags = random_bags(0, images=4)
    found = Silco(NETWORK).learn(bags, [], rng())
    for place, bag in enumerate(bags):
        others = Silco(NETWORK).learn(bags[:place] + bags[place + 1 :], [], rng())
        assert found.localization.rows[place] == int(others.score(bag).argmax())
        assert found.localization.scores[place] == pytest.approx(float(others.score(bag).max()), rel=1e-4)
        assert found.localization.scores[place] != pytest.approx(float(found.score(bag).max()), rel=1e-4)


def test_the_order_of_images_does_not_count() -> None:
    bags, new = random_bags(0, images=4), random_bags(9, images=1)[0]
    forth, back = (Silco(NETWORK).learn(order, [], rng()).score(new) for order in (bags, bags[::-1]))
    np.testing.assert_allclose(forth, back, rtol=1e-4, atol=1e-5)


def test_support_images_count_by_weights_between_0_and_1() -> None:
    nodes = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    weights = NETWORK.weigh(nodes)
    assert weights.shape == (5,)
    assert ((weights > 0) & (weights < 1)).all()
    assert len(np.unique(weights)) == 5
    assert NETWORK.weigh(nodes[:1]).shape == (1,)  # alone, it has nobody to heed


def test_attention_is_a_mean_over_the_support_image() -> None:
    """Regions twice in a support image change nothing if all are there twice."""
    seen, support = (np.abs(np.random.default_rng(n).standard_normal((6, 4))).astype(np.float32) for n in (0, 1))
    once, twice = NETWORK.attend(seen, support), NETWORK.attend(seen, np.concatenate([support, support]))
    np.testing.assert_allclose(once, twice, rtol=1e-4, atol=1e-5)
    assert not np.allclose(once, seen)


def test_objectness_is_added() -> None:
    bags, new = random_bags(0, images=3), random_bags(4, images=1)[0]
    plain, guided = (Silco(NETWORK, weight).learn(bags, [], rng()) for weight in (0.0, 2.0))
    np.testing.assert_allclose(guided.score(new), plain.score(new) + 2.0 * objectness_odds(new), rtol=1e-6)


def test_features_of_another_extractor_are_refused() -> None:
    with pytest.raises(ShapeError, match="SILCO"):
        Silco(NETWORK).learn(random_bags(0, d=7), [], rng())
