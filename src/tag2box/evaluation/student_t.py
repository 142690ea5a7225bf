"""Quantiles of Student's t distribution, without a library of 140 megabytes."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from tag2box.arrays import Array, require_number
from tag2box.errors import ShapeError

NODES = 200
HALVINGS = 100
FAR = 12.0
"""Standard deviations beyond which a distribution close to the normal has nothing left."""


def student_t_quantile(probability: float, degrees: float) -> float:
    """The value that a t-distributed number stays below with ``probability`` (0.5 to 1, exclusive).

    With t = sqrt(degrees) tan(angle) the density becomes cos(angle)^(degrees - 1), which Gauss-Legendre integrates; the
    angle is then found by halving.
    """
    require_number("degrees of freedom", degrees, above=0.0)
    if not 0.5 <= probability < 1.0:
        raise ShapeError(f"the probability is {probability}.", "a value from 0.5 to below 1", "use the symmetry of t.")
    reach = min(math.pi / 2, FAR / math.sqrt(degrees))
    wanted = (2.0 * probability - 1.0) * _area(reach, degrees)
    low, high = 0.0, reach
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _area(middle, degrees) < wanted else (low, middle)
    return math.sqrt(degrees) * math.tan(0.5 * (low + high))


def _area(angle: float, degrees: float) -> float:
    """Integral of cos^(degrees - 1) from 0 to ``angle``."""
    nodes, weights = _gauss_legendre()
    return 0.5 * angle * float(weights @ np.cos(0.5 * angle * (1.0 + nodes)) ** (degrees - 1.0))


@cache
def _gauss_legendre() -> tuple[Array, Array]:
    """Nodes and weights on the interval from -1 to 1."""
    return np.polynomial.legendre.leggauss(NODES)
