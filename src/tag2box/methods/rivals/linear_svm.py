"""A linear support vector machine, solved in its dual, one coordinate at a time (docs/method.md, section 13).

n = examples, d = feature dimension
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, require_shape

STEPS_PER_EXAMPLE = 2000


@final
@dataclass(frozen=True, eq=False)
class LinearSvm:
    """A plane: features on its positive side look like the thing."""

    weights: Array
    """(d,)"""
    bias: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights, np.float64))


def fit_linear_svm(features: Array, signs: Array, costs: Array, *, tol: float = 1e-4) -> LinearSvm:
    """The plane that minimises (13.1): ``signs`` (n,) are 1 or -1, ``costs`` (n,) what an error of each example costs.

    The dual coordinate that violates its optimality condition most is solved exactly, until none does by ``tol``.
    """
    require_shape("signs", signs, (len(features),))
    require_shape("costs", costs, (len(features),))
    gram = (features @ features.T + 1.0) * np.outer(signs, signs)  # (n, n)
    duals, slopes = np.zeros(len(signs)), -np.ones(len(signs))
    for _ in range(STEPS_PER_EXAMPLE * len(signs)):
        violations = np.abs(duals - np.minimum(np.maximum(duals - slopes, 0.0), costs))  # (n,)
        worst = int(violations.argmax())
        if violations[worst] <= tol:
            break
        solved = min(max(duals[worst] - slopes[worst] / gram[worst, worst], 0.0), costs[worst])
        slopes += (solved - duals[worst]) * gram[worst]
        duals[worst] = solved
    return LinearSvm((duals * signs) @ features, float(duals @ signs))


def balanced_costs(signs: Array, cost: float) -> Array:
    """(n,) costs with which both sides weigh the same, ``cost`` on average."""
    positives = signs > 0
    share = np.where(positives, positives.sum(), (~positives).sum())
    return cost * len(signs) / (2.0 * share)
