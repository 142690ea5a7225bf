"""L-BFGS on many independent problems at once: every matrix product serves all of them.

C = problems, d = variables of each, m = remembered steps
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from tag2box.arrays import Array, Bools
from tag2box.methods.detectors.strong_wolfe import Line, LinePoint, strong_wolfe


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
