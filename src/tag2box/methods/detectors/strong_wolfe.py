"""A line search that ends at a point with the strong Wolfe conditions.

Nocedal & Wright, Numerical Optimization, algorithms 3.5 and 3.6, with cubic interpolation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

DECREASE = 1e-4
CURVATURE = 0.9
MAX_TRIALS = 25


class LinePoint(NamedTuple):
    """A step along the line, the function there and its slope."""

    step: float
    value: float
    slope: float


Line = Callable[[float], LinePoint]


def strong_wolfe(line: Line, origin: LinePoint, first_step: float = 1.0) -> LinePoint:
    """A point that is low enough and flat enough; ``origin`` (step 0) must slope down."""
    before, step = origin, first_step
    for trial in range(MAX_TRIALS):
        here = line(step)
        if not _low_enough(here, origin) or (trial > 0 and here.value >= before.value):
            return _zoom(line, origin, before, here)
        if _flat_enough(here, origin):
            return here
        if here.slope >= 0:
            return _zoom(line, origin, here, before)
        before, step = here, 2.0 * step
    return before


def _zoom(line: Line, origin: LinePoint, low: LinePoint, high: LinePoint) -> LinePoint:
    """Shrink the bracket between ``low``, the best point so far, and ``high``."""
    for _ in range(MAX_TRIALS):
        here = line(_between(low, high))
        if not _low_enough(here, origin) or here.value >= low.value:
            high = here
            continue
        if _flat_enough(here, origin):
            return here
        if here.slope * (high.step - low.step) >= 0:
            high = low
        low = here
    return low


def _low_enough(here: LinePoint, origin: LinePoint) -> bool:
    return here.value <= origin.value + DECREASE * here.step * origin.slope


def _flat_enough(here: LinePoint, origin: LinePoint) -> bool:
    return abs(here.slope) <= -CURVATURE * origin.slope


def _between(low: LinePoint, high: LinePoint) -> float:
    """Minimum of the cubic through both points, or the middle where that is not well inside the bracket."""
    width = high.step - low.step
    d1 = low.slope + high.slope - 3.0 * (high.value - low.value) / width if width else 0.0
    square = d1 * d1 - low.slope * high.slope
    middle = low.step + 0.5 * width
    if width == 0.0 or not square > 0.0:
        return middle
    d2 = math.copysign(math.sqrt(square), width)
    bottom = high.slope - low.slope + 2.0 * d2
    step = high.step - width * (high.slope + d2 - d1) / bottom if bottom else middle
    inside = min(low.step, high.step) + 0.1 * abs(width) <= step <= max(low.step, high.step) - 0.1 * abs(width)
    return step if inside else middle
