"""The closed-form head: its direction, its scale, and that classes owe each other nothing."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_bag
from tag2box.boxes import box_overlaps
from tag2box.errors import InputError
from tag2box.methods.detectors import LikenessHead, LikenessLearner, likeness_head
from tag2box.methods.localizers import NO_BACKGROUND, OddsBackground, SceneMil, VmfMil, background_only
from tag2box.methods.spread import Spread
from tag2box.types import ProposalBag

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


def whitened_learner(weights: tuple[float, float, float] = (2.0, 2.0, 2.0)) -> LikenessLearner:
    spread, _ = some_spread()
    center = np.full(D, 0.1)
    vmf = VmfMil(10.0, NO_BACKGROUND, center=center, whitening=spread.whitening(center), start=background_only)
    return LikenessLearner(SceneMil(vmf, *weights), spread, 1.0, 0.5, OddsBackground())


def some_bags(count: int, seed: int = 3) -> list[ProposalBag]:
    rng = np.random.default_rng(seed)
    return [random_bag(rng, d=D) for _ in range(count)]


def test_a_direction_that_was_found_elsewhere_is_scored_among_centred_features() -> None:
    """EM works in whitened features; heads and class files do not."""
    bags, learner = some_bags(4), whitened_learner()
    learned = learner.learn(bags, (), np.random.default_rng(0))
    _, vectors = np.linalg.eigh(learner.spread.covariance)
    variances = np.array([axis @ learner.spread.covariance @ axis for axis in vectors.T])
    back = np.zeros(D)
    for axis, variance in zip(vectors.T, variances, strict=True):  # by the inverse of W in (4.2)
        back += axis * np.sqrt(variance + variances.mean()) * (axis @ learned.solution.foreground.theta)
    np.testing.assert_allclose(learned.direction, back / np.linalg.norm(back), atol=1e-8)
    head = likeness_head(
        ["x"],
        learned.direction[None],
        learner.spread,
        ridge=1.0,
        weight=0.5,
        center=np.full(D, 0.1),
        prior=OddsBackground(),
    )
    np.testing.assert_allclose(learned.score(bags[0]), head.score(bags[0])[:, 0])


def test_one_class_of_a_head_is_scored_alone_as_among_the_others() -> None:
    spread, _ = some_spread()
    (bag,) = some_bags(1)
    head = likeness_head(
        ["a", "b", "c"],
        directions(3),
        spread,
        ridge=1.0,
        weight=0.5,
        center=np.full(D, 0.1),
        prior=OddsBackground(),
    )
    scores = head.score(bag)
    for place in range(3):
        np.testing.assert_allclose(head.score_of(place, bag), scores[:, place], atol=1e-5)


def test_classes_of_the_same_photos_are_learned_apart() -> None:
    """As the localizer alone finds them, and scored by its directions."""
    bags, learner = some_bags(6), whitened_learner()
    tags = [{"a"}, {"a", "b"}, {"a", "b"}, {"b", "a"}, {"b"}, set()]
    learned = learner.learn_classes(bags, tags, ["a", "b"], np.random.default_rng(0))
    assert isinstance(learner.localizer, SceneMil)
    located = learner.localizer.learn_classes(bags, tags, ["a", "b"], np.random.default_rng(0))
    for label in ("a", "b"):
        np.testing.assert_array_equal(learned[label].localization.rows, located[label].localization.rows)
        np.testing.assert_array_equal(learned[label].solution.foreground.theta, located[label].foreground.theta)
        assert learned[label].score(bags[5]).shape == (len(bags[5]),)
    boxes = {label: [bags[i].boxes[row] for i, row in zip(places, learned[label].localization.rows, strict=True)]
             for label, places in (("a", (0, 1, 2, 3)), ("b", (1, 2, 3, 4)))}  # fmt: skip
    for one, other in zip(boxes["a"][1:], boxes["b"], strict=False):
        assert box_overlaps(one[None], other[None])[0, 0] < 0.3


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
