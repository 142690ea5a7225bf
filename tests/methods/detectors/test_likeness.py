"""The closed-form head: by the definition, what examples are worth, and that classes owe each other nothing."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_bag, random_units
from tag2box.arrays import Array
from tag2box.boxes import box_overlaps
from tag2box.errors import InputError
from tag2box.methods.detectors import MOST_EXAMPLES, LikenessHead, LikenessLearner
from tag2box.methods.localizers import NO_BACKGROUND, Clamps, OddsBackground, SceneMil, VmfMil, background_only
from tag2box.methods.spread import Spread
from tag2box.types import ProposalBag

D = 6
CENTER = np.full(D, 0.1)


def some_spread(seed: int = 0) -> Spread:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((400, D)) @ rng.standard_normal((D, D)) + rng.standard_normal(D)
    return Spread(features.mean(axis=0), np.cov(features.T, bias=True))


def some_bags(count: int, seed: int = 3) -> list[ProposalBag]:
    rng = np.random.default_rng(seed)
    return [random_bag(rng, d=D, image_id=f"photo {number}") for number in range(count)]


def units(count: int, seed: int = 1) -> Array:
    return random_units(np.random.default_rng(seed), count, D)


def plain_head(classes: list[str], *, share: float, sharpness: float = 4.0, examples: int = 3) -> LikenessHead:
    rows = tuple(units(examples, 10 + place) for place in range(len(classes)))
    return LikenessHead(tuple(classes), units(len(classes)), rows, lambda bag: bag, sharpness, share, OddsBackground())


@given(share=st.floats(0.0, 1.0), seed=st.integers(0, 50))
def test_likeness_and_score_by_the_definition(share: float, seed: int) -> None:
    """(9.5) and (9.6), one region and one class after the other."""
    head, bag = plain_head(["a", "b"], share=share), random_bag(np.random.default_rng(seed), d=D)
    likeness, scores, against = head.likeness(bag), head.score(bag), OddsBackground().log_score(bag)
    for n, x in enumerate(bag.features.astype(np.float64)):
        for c in range(2):
            likest = max(float(x @ example) for example in head.examples[c])
            expected = (1 - share) * float(x @ head.directions[c]) + share * likest
            assert likeness[n, c] == pytest.approx(expected, abs=1e-5)
            assert scores[n, c] == pytest.approx(4.0 * expected - against[n], abs=1e-4)


def test_a_class_without_examples_is_its_direction() -> None:
    (bag,) = some_bags(1)
    bare = plain_head(["a"], share=0.7, examples=0)
    np.testing.assert_allclose(bare.likeness(bag)[:, 0], bag.features @ bare.directions[0], atol=1e-6)


def test_the_thing_itself_is_as_like_as_can_be() -> None:
    (bag,) = some_bags(1)
    thing = bag.features[[2]].astype(np.float64)
    head = LikenessHead(("a",), thing, (thing,), lambda bag: bag, 1.0, 0.5)
    assert head.likeness(bag)[2, 0] == pytest.approx(1.0, abs=1e-6)
    assert head.likeness(bag).max() <= 1.0 + 1e-6


def test_classes_owe_each_other_nothing_and_the_prior_is_subtracted() -> None:
    (bag,) = some_bags(1)
    together = plain_head(["a", "b", "c"], share=0.5)
    alone = together.of_class("b")
    np.testing.assert_allclose(together.score(bag)[:, [1]], alone.score(bag), atol=1e-6)
    without = LikenessHead(alone.classes, alone.directions, alone.examples, lambda bag: bag, 4.0, 0.5)
    np.testing.assert_allclose(without.score(bag)[:, 0] - alone.score(bag)[:, 0], OddsBackground().log_score(bag))
    assert set(together.detect(bag).labels.tolist()) == {"a", "b", "c"}
    for place in range(3):
        np.testing.assert_allclose(together.likeness_of(place, bag), together.likeness(bag)[:, place], atol=1e-6)
        scored = together.scored(bag, together.likeness_of(place, bag))
        np.testing.assert_allclose(scored, together.score(bag)[:, place], atol=1e-6)


def whitened_learner(weights: tuple[float, float, float] = (2.0, 2.0, 2.0)) -> LikenessLearner:
    whitening = some_spread().whitening(CENTER)
    vmf = VmfMil(10.0, NO_BACKGROUND, center=CENTER, space=whitening, start=background_only)
    return LikenessLearner(SceneMil(vmf, *weights), 6.0, 0.5, OddsBackground())


PLAIN = LikenessLearner(VmfMil(10.0, NO_BACKGROUND, center=CENTER), 6.0, 0.5, OddsBackground())


@pytest.mark.parametrize("learner", [PLAIN, whitened_learner()])
def test_a_learner_scores_by_what_em_found(learner: LikenessLearner) -> None:
    """By the direction and by the regions, as the localizer sees features; new bags are seen so too."""
    bags = some_bags(5)
    learned = learner.learn(bags[:4], (), np.random.default_rng(0))
    seen = [learner.localizer.seen(bag).features.astype(np.float64) for bag in bags]
    examples = [rows[row] for rows, row in zip(seen, learned.localization.rows.tolist(), strict=False)]
    theta = learned.solution.foreground.theta
    against = OddsBackground().log_score(bags[4])
    expected = [
        6.0 * (0.5 * float(x @ theta) + 0.5 * max(float(x @ example) for example in examples)) - against[n]
        for n, x in enumerate(seen[4])
    ]
    np.testing.assert_allclose(learned.score(bags[4]), expected, atol=1e-4)


@pytest.mark.parametrize("learner", [PLAIN, whitened_learner()])
def test_what_files_keep_gives_the_same_head(learner: LikenessLearner) -> None:
    """A direction among centred features, and features as bags have them."""
    bags = some_bags(5)
    learned = learner.learn(bags[:4], (), np.random.default_rng(0))
    rows = np.stack([bag.features[row] for bag, row in zip(bags, learned.localization.rows.tolist(), strict=False)])
    again = learner.head_of_kept(["x"], learned.direction[None], [rows])
    np.testing.assert_allclose(again.score(bags[4])[:, 0], learned.score(bags[4]), atol=1e-4)
    bare = learner.head_of_kept(["x"], learned.direction[None], [rows[:0]])
    assert bare.score(bags[4]).shape == (len(bags[4]), 1)


def test_a_direction_that_was_found_elsewhere_is_kept_among_centred_features() -> None:
    learner = whitened_learner()
    learned, spread = learner.learn(some_bags(4), (), np.random.default_rng(0)), some_spread()
    _, vectors = np.linalg.eigh(spread.covariance)
    variances = np.array([axis @ spread.covariance @ axis for axis in vectors.T])
    back = np.zeros(D)
    for axis, variance in zip(vectors.T, variances, strict=True):  # by the inverse of W in (4.2)
        back += axis * np.sqrt(variance + variances.mean()) * (axis @ learned.solution.foreground.theta)
    np.testing.assert_allclose(learned.direction, back / np.linalg.norm(back), atol=1e-8)


def test_many_photos_are_remembered_by_some_and_absent_ones_by_none() -> None:
    bags = some_bags(MOST_EXAMPLES + 9)
    learned = PLAIN.learn(bags, (), np.random.default_rng(0), Clamps(absent=frozenset({0})))
    assert len(learned.examples) == len(learned.example_photos) == MOST_EXAMPLES
    assert 0 not in learned.example_photos
    assert learned.example_photos[0] == 1
    assert learned.example_photos[-1] == len(bags) - 1
    few = PLAIN.learn(bags[:4], (), np.random.default_rng(0), Clamps(absent=frozenset({2})))
    assert few.example_photos == (0, 1, 3)


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
    with pytest.raises(InputError):
        Spread(np.zeros(3), np.eye(4))
    make = partial(LikenessHead, seen=lambda bag: bag, example_share=0.5)
    with pytest.raises(InputError, match="sharpness"):
        make(("a",), units(1), (units(2),), sharpness=0.0)
    with pytest.raises(InputError, match="directions"):
        make(("a", "b"), units(1), (units(2),) * 2, sharpness=1.0)
    with pytest.raises(InputError, match="examples"):
        make(("a", "b"), units(2), (units(2),), sharpness=1.0)
    with pytest.raises(InputError, match="twice"):
        make(("a", "a"), units(2), (units(2),) * 2, sharpness=1.0)
