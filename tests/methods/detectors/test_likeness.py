"""The closed-form head: its direction, its scale, and that classes owe each other nothing."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_bag
from tag2box.errors import InputError
from tag2box.methods.detectors import LikenessHead, LikenessLearner, Spread, likeness_head
from tag2box.methods.localizers import NO_BACKGROUND, OddsBackground, VmfMil

D = 6


def some_spread(seed: int = 0) -> tuple[Spread, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((400, D)) @ rng.standard_normal((D, D)) + rng.standard_normal(D)
    return Spread(features.mean(axis=0), np.cov(features.T, bias=True)), features


def directions(count: int, seed: int = 1) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, D))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@given(ridge=st.floats(0.01, 100.0), seed=st.integers(0, 50))
def test_the_direction_solves_its_equation(ridge: float, seed: int) -> None:
    spread, _ = some_spread(seed)
    (theta,) = directions(1, seed)
    scale = np.trace(spread.covariance) / D
    expected = np.linalg.solve(spread.covariance + ridge * scale * np.eye(D), theta)
    np.testing.assert_allclose(spread.decorrelated(theta[None], ridge)[0], expected, rtol=1e-8, atol=1e-12)


def test_base_regions_score_zero_with_deviation_one() -> None:
    spread, features = some_spread()
    head = likeness_head(["a", "b"], directions(2), spread, ridge=1.0, weight=1.0)
    scores = features @ head.weights.T - head.offsets
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(scores.std(axis=0), 1.0, rtol=1e-10)


def test_a_region_is_scored_by_how_far_it_is_ahead_of_the_mean() -> None:
    spread, _ = some_spread()
    bag, theta = random_bag(np.random.default_rng(4), d=D), directions(1)
    head = likeness_head(["a"], theta, spread, ridge=2.0, weight=3.0)
    (direction,) = spread.decorrelated(theta, 2.0)
    deviation = np.sqrt(direction @ spread.covariance @ direction)
    expected = [3.0 * direction @ (row.astype(np.float64) - spread.mean) / deviation for row in bag.features]
    np.testing.assert_allclose(head.score(bag)[:, 0], expected, rtol=1e-6)


def test_with_equal_spread_everywhere_it_is_the_cosine() -> None:
    spread = Spread(np.zeros(D), 0.25 * np.eye(D))
    theta = directions(1)
    head = likeness_head(["a"], theta, spread, ridge=1.0, weight=1.0)
    np.testing.assert_allclose(head.weights, 2.0 * theta)
    np.testing.assert_allclose(head.offsets, 0.0)


def test_classes_owe_each_other_nothing_and_the_prior_is_subtracted() -> None:
    spread, _ = some_spread()
    bag, theta = random_bag(np.random.default_rng(2), d=D), directions(3)
    make = partial(likeness_head, spread=spread, ridge=1.0, weight=0.5, center=np.full(D, 0.1))
    together = make(["a", "b", "c"], theta, prior=OddsBackground())
    alone = make(["b"], theta[[1]], prior=OddsBackground())
    np.testing.assert_allclose(together.score(bag)[:, [1]], alone.score(bag))
    np.testing.assert_allclose(together.of_class("b").score(bag), alone.score(bag))
    without = make(["b"], theta[[1]])
    np.testing.assert_allclose(without.score(bag)[:, 0] - alone.score(bag)[:, 0], OddsBackground().log_score(bag))
    assert set(together.detect(bag).labels.tolist()) == {"a", "b", "c"}


def test_a_learner_scores_by_the_direction_that_em_found() -> None:
    spread, _ = some_spread()
    rng = np.random.default_rng(3)
    bags = [random_bag(rng, d=D) for _ in range(4)]
    localizer = VmfMil(10.0, NO_BACKGROUND)
    learned = LikenessLearner(localizer, spread, 1.0, 0.5).learn(bags, [], np.random.default_rng(0))
    theta = localizer.solve(bags, np.random.default_rng(0)).foreground.theta
    head = likeness_head(["x"], theta[None], spread, ridge=1.0, weight=0.5)
    np.testing.assert_allclose(learned.score(bags[0]), head.score(bags[0])[:, 0])


def test_what_makes_no_head_is_refused() -> None:
    spread, _ = some_spread()
    with pytest.raises(InputError):
        Spread(np.zeros(3), np.eye(4))
    with pytest.raises(InputError, match="ridge"):
        likeness_head(["a"], directions(1), spread, ridge=0.0, weight=1.0)
    with pytest.raises(InputError, match="directions"):
        likeness_head(["a", "b"], directions(1), spread, ridge=1.0, weight=1.0)
    with pytest.raises(InputError, match="twice"):
        LikenessHead(("a", "a"), np.eye(2), np.zeros(2))
