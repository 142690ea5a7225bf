"""L-BFGS on many independent problems at once: every matrix product serves all of them.

The line search ends at a point with the strong Wolfe conditions (Nocedal & Wright, Numerical Optimization, algorithms
3.5 and 3.6, with cubic interpolation).

C = problems, d = variables of each, m = remembered steps
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, final

import numpy as np

from tag2box.arrays import Array, Bools

DECREASE = 1e-4
CURVATURE = 0.9
MAX_TRIALS = 25


class LinePoint(NamedTuple):
    """A step along the line, the function there and its slope."""

    step: float
    value: float
    slope: float


Line = Callable[[float], LinePoint]


class Lines(Protocol):
    """C problems restricted to lines through the current points."""

    def along(self, problem: int) -> Line:
        """The function of one problem on its line."""
        ...

    def end(self, steps: Array) -> Point:
        """All C problems at ``steps`` (C,) along their lines."""
        ...


class Point(Protocol):
    """C problems at one place each."""

    @property
    def variables(self) -> Array:
        """(C, d) where the problems stand."""
        ...

    @property
    def values(self) -> Array:
        """(C,) the functions there."""
        ...

    @property
    def gradients(self) -> Array:
        """(C, d) their gradients."""
        ...

    def lines(self, directions: Array) -> Lines:
        """The lines through this point along ``directions`` (C, d)."""
        ...


@final
@dataclass(frozen=True, eq=False)
class Minimum:
    """Where L-BFGS ended."""

    point: Point
    converged: Bools
    """(C,)"""
    iterations: int


def minimize(start: Point, *, max_iterations: int = 100, memory: int = 10, tol: float = 1e-8) -> Minimum:
    """Minimise C problems together until each gradient's largest entry is below ``tol``."""
    point, history = start, History(memory)
    for iteration in range(max_iterations):
        gradients = point.gradients
        active = np.abs(gradients).max(axis=1) > tol  # (C,)
        if not active.any():
            return Minimum(point, ~active, iteration)
        directions = history.descent(gradients) * active[:, None]  # (C, d)
        following = _search(point, directions, active, first=not history)
        if np.array_equal(following.variables, point.variables):
            return Minimum(point, ~active, iteration)
        history.remember(following.variables - point.variables, following.gradients - gradients)
        point = following
    return Minimum(point, np.abs(point.gradients).max(axis=1) <= tol, max_iterations)


def _search(point: Point, directions: Array, active: Bools, *, first: bool) -> Point:
    """One strong-Wolfe step in every problem that is still moving."""
    slopes = np.einsum("cd,cd->c", directions, point.gradients)  # (C,)
    lines, steps = point.lines(directions), np.zeros(len(active))
    for problem in np.flatnonzero(active & (slopes < 0)):
        origin = LinePoint(0.0, float(point.values[problem]), float(slopes[problem]))
        first_step = min(1.0, 1.0 / float(np.abs(directions[problem]).sum())) if first else 1.0
        steps[problem] = strong_wolfe(lines.along(int(problem)), origin, first_step).step
    return lines.end(steps)


@final
class History:
    """The last m steps of all problems, as an estimate of their inverse Hessians."""

    def __init__(self, memory: int) -> None:
        self._pairs: deque[tuple[Array, Array, Array]] = deque(maxlen=memory)

    def __len__(self) -> int:
        return len(self._pairs)

    def remember(self, moved: Array, turned: Array) -> None:
        """Keep a step (C, d) and the change of gradient (C, d) over it; a problem without curvature keeps nothing."""
        curvature = np.einsum("cd,cd->c", moved, turned)  # (C,)
        useful = curvature > 1e-300
        rho = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=useful)
        self._pairs.append((moved, turned, rho))

    def descent(self, gradients: Array) -> Array:
        """(C, d) directions by the two-loop recursion; against the gradient where nothing is known."""
        q, alphas = gradients.copy(), []
        for moved, turned, rho in reversed(self._pairs):
            alphas.append(rho * np.einsum("cd,cd->c", moved, q))
            q -= alphas[-1][:, None] * turned
        q *= self._scale(len(gradients))[:, None]
        for (moved, turned, rho), alpha in zip(self._pairs, reversed(alphas), strict=True):
            beta = rho * np.einsum("cd,cd->c", turned, q)
            q += (alpha - beta)[:, None] * moved
        return -q

    def _scale(self, problems: int) -> Array:
        """(C,) size of the inverse Hessian, from the newest useful pair of each problem."""
        scale = np.ones(problems)
        for _, turned, rho in self._pairs:
            squared = np.einsum("cd,cd->c", turned, turned)
            scale = np.where(rho > 0, 1.0 / np.where(rho > 0, rho * squared, 1.0), scale)
        return scale


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
