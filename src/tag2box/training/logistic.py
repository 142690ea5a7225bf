"""Logistic regression by Newton's method.

n = examples, k = values of an example
"""

from __future__ import annotations

import numpy as np

from tag2box.arrays import Array, Bools, sigmoid

STEPS = 30
RIDGE = 1e-3


def fit_logistic(values: Array, labels: Bools, shares: Array) -> list[float]:
    """Weights and, last, bias of the regression of labels (n,) on values (n, k); ``shares`` (n,) sum to 1."""
    means, spreads = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-9)
    rows = np.column_stack([(values - means) / spreads, np.ones(len(values))])
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chances = sigmoid(rows @ weights)
        slope = rows.T @ (shares * (labels - chances)) - RIDGE * weights
        bend = (rows * (shares * chances * (1.0 - chances))[:, None]).T @ rows + RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(bend, slope)
    scaled = weights[:-1] / spreads
    return [*scaled.tolist(), float(weights[-1] - scaled @ means)]


def balanced(labels: Bools) -> Array:
    """(n,) shares that make both sides weigh the same."""
    return np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())


def alike(labels: Bools) -> Array:
    """(n,) shares that make all examples weigh the same: chances come out as they are."""
    return np.full(len(labels), 1.0 / len(labels))
