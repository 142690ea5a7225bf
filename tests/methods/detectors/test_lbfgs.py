"""L-BFGS on problems with known minima; its line search ends where both Wolfe conditions hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.arrays import Array
from tag2box.methods.detectors import LinePoint, minimize, strong_wolfe
from tag2box.methods.detectors.lbfgs import CURVATURE, DECREASE, History, Line


def rosenbrock(v: Array) -> tuple[float, Array]:
    x, y = v
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2, np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])


def valley(v: Array) -> tuple[float, Array]:
    scales = np.array([1.0, 1000.0])
    return float(0.5 * (scales * (v - [3.0, -2.0]) ** 2).sum()), scales * (v - [3.0, -2.0])


FUNCTIONS = [rosenbrock, valley]


@dataclass(frozen=True, eq=False)
class Problems:
    """Different functions side by side, as one point of L-BFGS."""

    variables: Array

    @property
    def values(self) -> Array:
        return np.array([f(v)[0] for f, v in zip(FUNCTIONS, self.variables, strict=True)])

    @property
    def gradients(self) -> Array:
        return np.stack([f(v)[1] for f, v in zip(FUNCTIONS, self.variables, strict=True)])

    def lines(self, directions: Array) -> ProblemLines:
        return ProblemLines(self, directions)


@dataclass(frozen=True, eq=False)
class ProblemLines:
    origin: Problems
    directions: Array

    def along(self, problem: int) -> Line:
        v, p, f = self.origin.variables[problem], self.directions[problem], FUNCTIONS[problem]

        def line(step: float) -> LinePoint:
            value, gradient = f(v + step * p)
            return LinePoint(step, value, float(gradient @ p))

        return line

    def end(self, steps: Array) -> Problems:
        return Problems(self.origin.variables + steps[:, None] * self.directions)


def test_two_different_problems_reach_their_minima_together() -> None:
    found = minimize(Problems(np.array([[-1.2, 1.0], [50.0, 50.0]])), max_iterations=200)
    np.testing.assert_allclose(found.point.variables, [[1.0, 1.0], [3.0, -2.0]], atol=1e-6)
    assert found.converged.all()
    assert found.iterations < 60


def test_a_problem_at_its_minimum_stays_there() -> None:
    found = minimize(Problems(np.array([[-1.2, 1.0], [3.0, -2.0]])), max_iterations=5)
    np.testing.assert_array_equal(found.point.variables[1], [3.0, -2.0])
    assert found.converged.tolist() == [False, True]
    assert found.iterations == 5


def dense_inverse_hessian(pairs: list[tuple[Array, Array]]) -> Array:
    """The BFGS update of the inverse Hessian, as a matrix, pair by pair."""
    moved, turned = pairs[-1]
    inverse = np.eye(len(moved)) * (moved @ turned) / (turned @ turned)
    for s, y in pairs:
        left = np.eye(len(s)) - np.outer(s, y) / (s @ y)
        inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
    return inverse


@pytest.mark.parametrize("memory", [1, 3, 10])
def test_directions_are_those_of_the_dense_bfgs_matrix(memory: int) -> None:
    rng = np.random.default_rng(0)
    hessians = [a @ a.T + np.eye(6) for a in rng.normal(size=(2, 6, 6))]
    history, pairs = History(memory), []
    for _ in range(5):
        moved = rng.normal(size=(2, 6))
        turned = np.stack([hessian @ s for hessian, s in zip(hessians, moved, strict=True)])
        history.remember(moved, turned)
        pairs.append((moved, turned))
    gradients = rng.normal(size=(2, 6))
    for problem, found in enumerate(history.descent(gradients)):
        own = [(s[problem], y[problem]) for s, y in pairs[-memory:]]
        np.testing.assert_allclose(found, -dense_inverse_hessian(own) @ gradients[problem], rtol=1e-9)


def test_without_history_the_direction_is_against_the_gradient() -> None:
    gradients = np.array([[1.0, 2.0], [0.0, -3.0]])
    np.testing.assert_array_equal(History(5).descent(gradients), -gradients)


def test_a_step_without_curvature_is_not_remembered() -> None:
    history = History(5)
    history.remember(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[2.0, 0.0], [-1.0, 0.0]]))
    np.testing.assert_allclose(history.descent(np.array([[2.0, 3.0], [2.0, 3.0]])), [[-1.0, -1.5], [-2.0, -3.0]])


@pytest.mark.parametrize("limit", [0, 3])
def test_the_limit_of_iterations_is_kept(limit: int) -> None:
    start = Problems(np.array([[-1.2, 1.0], [50.0, 50.0]]))
    found = minimize(start, max_iterations=limit)
    assert found.iterations == limit
    assert not found.converged.any()
    assert (found.point is start) == (limit == 0)


CURVES: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "parabola": (lambda x: (x - 3) ** 2, lambda x: 2 * (x - 3)),
    "steep parabola": (lambda x: 1e4 * (x - 0.003) ** 2, lambda x: 2e4 * (x - 0.003)),
    "far minimum": (lambda x: (x - 500) ** 2, lambda x: 2 * (x - 500)),
    "quartic": (lambda x: (x - 1) ** 4 - x, lambda x: 4 * (x - 1) ** 3 - 1),
    "waves": (lambda x: math.cos(3 * x) - 0.1 * x, lambda x: -3 * math.sin(3 * x) - 0.1),
    "logistic": (lambda x: math.log1p(math.exp(-x)) + 0.01 * x * x, lambda x: -1 / (1 + math.exp(x)) + 0.02 * x),
}


@pytest.mark.parametrize("name", CURVES)
@given(first_step=st.floats(1e-3, 1e2), start=st.floats(-0.9, 0.0))
def test_the_end_is_low_and_flat_enough(name: str, first_step: float, start: float) -> None:
    function, slope = CURVES[name]
    origin = LinePoint(0.0, function(start), slope(start))
    if origin.slope >= 0:
        return
    end = strong_wolfe(lambda s: LinePoint(s, function(start + s), slope(start + s)), origin, first_step)
    assert end.step > 0
    assert end.value <= origin.value + DECREASE * end.step * origin.slope
    assert abs(end.slope) <= -CURVATURE * origin.slope


def test_a_good_first_step_costs_one_look() -> None:
    looks = []

    def line(step: float) -> LinePoint:
        looks.append(step)
        return LinePoint(step, (step - 1.0) ** 2, 2 * (step - 1.0))

    assert strong_wolfe(line, LinePoint(0.0, 1.0, -2.0)).step == 1.0
    assert looks == [1.0]


def test_a_function_that_never_rises_ends_too() -> None:
    end = strong_wolfe(lambda s: LinePoint(s, -s, -1.0), LinePoint(0.0, 0.0, -1.0))
    assert math.isfinite(end.step)
    assert end.value < 0
