"""Signs of trust: each photo is judged by what the others say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_bag
from tag2box.boxes import box_overlaps
from tag2box.methods.detectors import LikenessDetector, LikenessLearner
from tag2box.methods.localizers import NO_BACKGROUND, Clamps, OddsBackground, SceneMil, VmfMil
from tag2box.methods.signs import ABSENT_SIGNS, WRONG_SIGNS, medians_of_others, read_signs
from tag2box.methods.spread import Spread
from tag2box.types import ProposalBag

D = 8


def learned(kappa: float, bags: list[ProposalBag], clamps: Clamps = Clamps()) -> LikenessDetector:  # noqa: B008 - frozen
    learner = LikenessLearner(VmfMil(kappa, NO_BACKGROUND, center=np.full(D, 0.05)), 6.0, 0.5, OddsBackground())
    return learner.learn(bags, (), np.random.default_rng(0), clamps)


def some_bags(count: int, seed: int = 0) -> list[ProposalBag]:
    rng = np.random.default_rng(seed)
    return [random_bag(rng, d=D) for _ in range(count)]


def test_the_direction_without_a_photo_does_not_know_it() -> None:
    """Slowly, from the definition (14.1)."""
    bags = some_bags(5)
    detector = learned(20.0, bags)
    solution, signs = detector.solution, read_signs(detector, bags)
    for i in range(len(bags)):
        total = np.zeros(D)
        for j, bag in enumerate(bags):
            if j != i:
                for row in range(len(bag)):
                    moved = bag.features[row].astype(np.float64) - 0.05
                    total += solution.localization.weights[j][row] * moved / np.linalg.norm(moved)
        np.testing.assert_allclose(signs.directions[i], total / np.linalg.norm(total), atol=1e-6)


def test_every_sign_by_hand() -> None:
    bags = some_bags(4, seed=1)
    detector = learned(15.0, bags)
    solution, signs = detector.solution, read_signs(detector, bags)
    assert signs.wrong.shape == (4, len(WRONG_SIGNS))
    assert signs.absent.shape == (4, len(ABSENT_SIGNS))
    best = []
    for i, bag in enumerate(bags):
        row = solution.localization.rows[i]
        moved = bag.features.astype(np.float64) - 0.05
        likeness = moved / np.linalg.norm(moved, axis=1, keepdims=True) @ signs.directions[i]
        overlaps = box_overlaps(bag.boxes[[row]], bag.boxes)[0]
        around = min(solution.localization.weights[i][overlaps >= 0.5].sum(), 1 - 1e-6)
        x0, y0, x1, y1 = bag.boxes[row].astype(np.float64)
        size = 0.5 * np.log((x1 - x0) * (y1 - y0) / (bag.size[0] * bag.size[1]))
        expected = [np.log(around / (1 - around)), overlaps[likeness.argmax()], likeness[row], size, size**2]
        np.testing.assert_allclose(signs.wrong[i], expected, rtol=1e-4, atol=1e-4)
        best.append(likeness.max())
    np.testing.assert_allclose(signs.absent[:, 0], best, atol=1e-6)
    np.testing.assert_allclose(signs.absent[0, 1], np.median(best[1:]), atol=1e-6)


def test_the_others_do_not_choose_what_is_taken() -> None:
    """Their choice, with the signs that follow from it, is the best of the rows that are left."""
    bags = some_bags(4, seed=1)
    plain = read_signs(learned(15.0, bags), bags)
    for i, bag in enumerate(bags):
        moved = bag.features.astype(np.float64) - 0.05
        likeness = moved / np.linalg.norm(moved, axis=1, keepdims=True) @ plain.directions[i]
        taken = np.arange(len(bag)) == likeness.argmax()
        clamps = Clamps(taken={i: taken})
        detector = learned(15.0, bags, clamps)
        signs = read_signs(detector, bags, clamps)
        again = moved / np.linalg.norm(moved, axis=1, keepdims=True) @ signs.directions[i]
        second = int(np.where(taken, -np.inf, again).argmax())
        assert signs.absent[i, 0] == pytest.approx(again[second], abs=1e-6)
        row = detector.localization.rows[i]
        overlap = box_overlaps(bag.boxes[[row]], bag.boxes[[second]])[0, 0]
        assert signs.wrong[i, 1] == pytest.approx(overlap, abs=1e-6)


def test_in_whitened_features_directions_are_of_that_space_and_scores_of_the_head() -> None:
    bags = some_bags(5, seed=6)
    rng = np.random.default_rng(4)
    spread = Spread(rng.standard_normal(D) / 10, np.cov(rng.standard_normal((D, 40))))
    plain, whitening = learned(15.0, bags).learner, spread.whitening(np.full(D, 0.05))
    localizer = VmfMil(15.0, NO_BACKGROUND, center=np.full(D, 0.05), space=whitening)
    detector = replace(plain, localizer=SceneMil(localizer, 1.0, 1.0, 1.0)).learn(bags, (), np.random.default_rng(0))
    signs, rows = read_signs(detector, bags), detector.localization.rows.tolist()
    for i, bag in enumerate(bags):
        total = np.zeros(D)
        for j, other in enumerate(bags):
            if j != i:
                total += detector.localization.weights[j] @ whitening.bag(other).features.astype(np.float64)
        np.testing.assert_allclose(signs.directions[i], total / np.linalg.norm(total), atol=1e-6)
        others = [whitening.bag(b).features[r] for j, (b, r) in enumerate(zip(bags, rows, strict=True)) if j != i]
        head = detector.learner.head(["x"], signs.directions[[i]], [np.stack(others)])
        scores = head.score(bag)[:, 0]
        assert signs.scores[i] == pytest.approx(scores.max(), abs=1e-5)
        assert signs.likenesses[i] == pytest.approx(head.likeness(bag)[scores.argmax(), 0], abs=1e-5)


def test_two_photos_are_judged_by_each_other() -> None:
    bags = some_bags(2, seed=2)
    signs = read_signs(learned(15.0, bags), bags)
    assert np.isfinite(signs.wrong).all()
    np.testing.assert_allclose(signs.absent[0, 1], signs.absent[1, 0])


def test_a_left_out_photo_is_scored_by_the_direction_without_it() -> None:
    """Slowly, from the definition: by the direction of the others and the likest of their regions."""
    bags = some_bags(5, seed=3)
    detector = learned(15.0, bags)
    signs, rows = read_signs(detector, bags), detector.localization.rows.tolist()
    seen = [bag.features.astype(np.float64) - 0.05 for bag in bags]
    seen = [moved / np.linalg.norm(moved, axis=1, keepdims=True) for moved in seen]
    for i, bag in enumerate(bags):
        examples = [seen[j][rows[j]] for j in range(5) if j != i]
        odds = np.log(np.clip(bag.objectness, 1e-4, 1 - 1e-4) / (1 - np.clip(bag.objectness, 1e-4, 1 - 1e-4)))
        likeness = [0.5 * x @ signs.directions[i] + 0.5 * max(x @ e for e in examples) for x in seen[i]]
        scores = 6.0 * np.array(likeness) + odds
        assert signs.scores[i] == pytest.approx(scores.max(), abs=1e-3)
        assert signs.likenesses[i] == pytest.approx(likeness[int(scores.argmax())], abs=1e-4)


def test_one_photo_whose_region_is_known_has_nobody_to_ask() -> None:
    bags = some_bags(1)
    signs = read_signs(learned(15.0, bags, Clamps({0: 2})), bags)
    assert len(signs.scores) == len(signs.likenesses) == 0
    assert np.isfinite(signs.wrong).all()
    np.testing.assert_allclose(np.linalg.norm(signs.directions, axis=1), 1.0)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=9))
def test_the_median_of_the_others_is_that(values: list[float]) -> None:
    expected = [np.median(np.delete(values, i)) for i in range(len(values))]
    np.testing.assert_allclose(medians_of_others(np.array(values)), expected)
