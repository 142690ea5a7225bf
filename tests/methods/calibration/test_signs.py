"""Signs of trust: each photo is judged by what the others say."""

from __future__ import annotations

import numpy as np
import pytest

from samples import random_bag
from tag2box.boxes import box_overlaps
from tag2box.methods.calibration import ABSENT_SIGNS, WRONG_SIGNS, left_out_scores, read_signs
from tag2box.methods.detectors import LikenessHead
from tag2box.methods.localizers import NO_BACKGROUND, VmfMil
from tag2box.types import ProposalBag

D = 8


def some_bags(count: int, seed: int = 0) -> list[ProposalBag]:
    rng = np.random.default_rng(seed)
    return [random_bag(rng, d=D) for _ in range(count)]


def test_the_direction_without_a_photo_does_not_know_it() -> None:
    """Slowly, from the definition (14.1)."""
    bags = some_bags(5)
    solution = VmfMil(20.0, NO_BACKGROUND).solve(bags, np.random.default_rng(0))
    signs = read_signs(solution, bags)
    for i in range(len(bags)):
        total = np.zeros(D)
        for j, bag in enumerate(bags):
            if j != i:
                for row in range(len(bag)):
                    total += solution.localization.weights[j][row] * bag.features[row].astype(np.float64)
        np.testing.assert_allclose(signs.directions[i], total / np.linalg.norm(total), atol=1e-9)


def test_every_sign_by_hand() -> None:
    bags = some_bags(4, seed=1)
    solution = VmfMil(15.0, NO_BACKGROUND).solve(bags, np.random.default_rng(0))
    signs = read_signs(solution, bags)
    assert signs.wrong.shape == (4, len(WRONG_SIGNS))
    assert signs.absent.shape == (4, len(ABSENT_SIGNS))
    best = []
    for i, bag in enumerate(bags):
        row = solution.localization.rows[i]
        likeness = bag.features.astype(np.float64) @ signs.directions[i]
        overlaps = box_overlaps(bag.boxes[[row]], bag.boxes)[0]
        around = min(solution.localization.weights[i][overlaps >= 0.5].sum(), 1 - 1e-6)
        x0, y0, x1, y1 = bag.boxes[row].astype(np.float64)
        size = 0.5 * np.log((x1 - x0) * (y1 - y0) / (bag.size[0] * bag.size[1]))
        expected = [np.log(around / (1 - around)), overlaps[likeness.argmax()], likeness[row], size, size**2]
        np.testing.assert_allclose(signs.wrong[i], expected, rtol=1e-4, atol=1e-4)
        best.append(likeness.max())
    np.testing.assert_allclose(signs.absent[:, 0], best, atol=1e-9)
    np.testing.assert_allclose(signs.absent[0, 1], np.median(best[1:]), atol=1e-9)


def test_two_photos_are_judged_by_each_other() -> None:
    bags = some_bags(2, seed=2)
    signs = read_signs(VmfMil(15.0, NO_BACKGROUND).solve(bags, np.random.default_rng(0)), bags)
    assert np.isfinite(signs.wrong).all()
    np.testing.assert_allclose(signs.absent[0, 1], signs.absent[1, 0])


def test_a_left_out_photo_is_scored_by_the_direction_without_it() -> None:
    bags, directions = some_bags(3), np.eye(D)[:3]
    scores = left_out_scores(
        directions, bags, lambda names, rows: LikenessHead(tuple(names), rows, np.zeros(len(rows)))
    )
    assert scores == pytest.approx([bag.features[:, i].max() for i, bag in enumerate(bags)], abs=1e-6)
