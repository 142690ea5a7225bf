"""LSDA: a classifier of whole images, moved as those of near base classes were moved."""

from __future__ import annotations

import numpy as np
import pytest

from samples import random_bags, some_schooling, unit
from tag2box.errors import ShapeError
from tag2box.methods.floors import objectness_odds
from tag2box.methods.rivals import BaseClassifiers, Lsda

BASE = some_schooling().classifiers


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("nearest", [1, 3, 7, 100])
def test_the_detector_is_the_classifier_and_what_its_neighbours_gained(nearest: int) -> None:
    bags, new = random_bags(0, images=3), random_bags(4, images=1)[0]
    whole = np.mean([bag.features[0] for bag in bags], axis=0)
    own = unit((whole - BASE.mean) @ BASE.solver)
    near = np.argsort(((BASE.images - own) ** 2).sum(axis=1))[:nearest]
    detector = own + np.mean(BASE.regions[near] - BASE.images[near], axis=0)
    found = Lsda(BASE, nearest).learn(bags, [], rng())
    np.testing.assert_allclose(found.score(new), new.features @ detector, atol=1e-5)
    assert found.localization.rows.tolist() == [int((bag.features @ detector).argmax()) for bag in bags]


def test_objectness_is_added() -> None:
    bags, new = random_bags(0, images=3), random_bags(4, images=1)[0]
    plain = Lsda(BASE).learn(bags, [], rng())
    guided = Lsda(BASE, objectness_weight=0.3).learn(bags, [], rng())
    np.testing.assert_allclose(guided.score(new), plain.score(new) + 0.3 * objectness_odds(new), atol=1e-6)


def test_classifiers_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(ShapeError, match="classifiers of regions"):
        BaseClassifiers(BASE.images, BASE.regions[:2], BASE.mean, BASE.solver)
