"""Trials of which it is known what the signs, scores and likenesses in them mean."""

from __future__ import annotations

import numpy as np

from tag2box.experiments.bench.trust import TrustTrial


def some_trials(seed: int = 0) -> list[TrustTrial]:
    """Boxes are wrong by the third sign, tags by the first; new photos that show the class are more like it.

    The thing is where it scores most in nine of ten of them: elsewhere the score is low. A further thing is as likely
    right as wrong at a score of 3.
    """
    rng = np.random.default_rng(seed)
    trials = []
    for _ in range(200):
        wrong_signs, absent_signs = rng.standard_normal((6, 5)), rng.standard_normal((6, 2))
        scores, right = rng.normal([6.0, 2.0, 2.0, 2.0, 2.0], 1.0), rng.random() < 0.9
        scores[0] -= 0.0 if right else 4.0
        further_scores = rng.normal(3.0, 2.0, 2)
        trials.append(
            TrustTrial(
                wrong_signs,
                rng.random(6) < 1 / (1 + np.exp(3 * wrong_signs[:, 2] - 0.5)),
                absent_signs,
                rng.random(6) < 1 / (1 + np.exp(2 * absent_signs[:, 0] + 2)),
                rng.normal(6.0, 1.0, 6),
                rng.normal(0.7, 0.1, 6),
                rng.normal(0.3, 0.1, 3),
                scores,
                rng.normal([0.7, 0.3, 0.3, 0.3, 0.3], 0.1),
                np.array([right, False, False, False, False]),
                np.array([True, False, False, False, False]),
                np.array([0, 3]),
                further_scores,
                np.full(2, 0.9),
                rng.random(2) < 1 / (1 + np.exp(3.0 - further_scores)),
            )
        )
    return trials
