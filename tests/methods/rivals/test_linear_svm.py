"""The support vector machine against scipy, its optimality conditions, and cases by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from tag2box.arrays import Array
from tag2box.methods.rivals.linear_svm import LinearSvm, balanced_costs, fit_linear_svm

problems = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 12), st.floats(0.01, 10.0))


def draw(seed: int, positives: int, negatives: int, cost: float, d: int = 4) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    signs = np.repeat([1.0, -1.0], [positives, negatives])
    return rng.standard_normal((len(signs), d)) + 0.5 * signs[:, None], signs, balanced_costs(signs, cost)


def primal(svm: LinearSvm, features: Array, signs: Array, costs: Array) -> float:
    """What (13.1) says."""
    misses = np.maximum(0.0, 1.0 - signs * (features @ svm.weights + svm.bias))
    return float(0.5 * (svm.weights @ svm.weights + svm.bias**2) + costs @ misses)


@given(problems)
def test_no_plane_that_scipy_finds_is_better(problem: tuple[int, int, int, float]) -> None:
    features, signs, costs = draw(*problem)
    ours = primal(fit_linear_svm(features, signs, costs, tol=1e-8), features, signs, costs)
    gram = (features @ features.T + 1.0) * np.outer(signs, signs)
    dual = minimize(
        lambda a: 0.5 * a @ gram @ a - a.sum(),
        np.zeros(len(signs)),
        jac=lambda a: gram @ a - 1.0,
        method="L-BFGS-B",
        bounds=[(0.0, cost) for cost in costs],
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )
    assert ours == pytest.approx(-dual.fun, rel=1e-5, abs=1e-7)  # no gap between primal and dual


def test_two_points_on_a_line_by_hand() -> None:
    """The margin touches both: 2w + b = 1 and -w + b = -1 would need w = 2/3, b = -1/3, and that is the shortest."""
    svm = fit_linear_svm(np.array([[2.0], [-1.0]]), np.array([1.0, -1.0]), np.full(2, 100.0), tol=1e-10)
    assert [svm.weights[0], svm.bias] == pytest.approx([2 / 3, -1 / 3])
    assert np.array([2.0, 0.5, -1.0]) * svm.weights + svm.bias == pytest.approx([1.0, 0.0, -1.0], abs=1e-8)


def test_errors_that_cost_little_are_made() -> None:
    """With a tiny cost every dual is at its limit: the weights are the sum of the signed examples times it."""
    features, signs = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0])
    svm = fit_linear_svm(features, signs, np.full(2, 1e-3))
    assert svm.weights == pytest.approx([1e-3, -1e-3])
    assert svm.bias == pytest.approx(0.0)


def test_balanced_costs_weigh_both_sides_alike() -> None:
    signs = np.array([1.0, -1.0, -1.0, -1.0])
    costs = balanced_costs(signs, 2.0)
    assert costs[signs > 0].sum() == pytest.approx(costs[signs < 0].sum())
    assert costs.mean() == pytest.approx(2.0)
