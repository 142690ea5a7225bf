"""The line search ends where both Wolfe conditions hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.methods.detectors import LinePoint, strong_wolfe
from tag2box.methods.detectors.strong_wolfe import CURVATURE, DECREASE

FUNCTIONS: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "parabola": (lambda x: (x - 3) ** 2, lambda x: 2 * (x - 3)),
    "steep parabola": (lambda x: 1e4 * (x - 0.003) ** 2, lambda x: 2e4 * (x - 0.003)),
    "far minimum": (lambda x: (x - 500) ** 2, lambda x: 2 * (x - 500)),
    "quartic": (lambda x: (x - 1) ** 4 - x, lambda x: 4 * (x - 1) ** 3 - 1),
    "waves": (lambda x: math.cos(3 * x) - 0.1 * x, lambda x: -3 * math.sin(3 * x) - 0.1),
    "logistic": (lambda x: math.log1p(math.exp(-x)) + 0.01 * x * x, lambda x: -1 / (1 + math.exp(x)) + 0.02 * x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(first_step=st.floats(1e-3, 1e2), start=st.floats(-0.9, 0.0))
def test_the_end_is_low_and_flat_enough(name: str, first_step: float, start: float) -> None:
    function, slope = FUNCTIONS[name]
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
