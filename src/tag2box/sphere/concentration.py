"""Rules that turn a mean resultant length into a concentration.

r = mean resultant length, between 0 and 1; d = dimension. Equations: docs/method.md, section 2.

Every rule but the constant stops at ``LONGEST``: one image, or identical features, give r = 1, where the exact
concentration is infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tag2box.arrays import UNIT_TOLERANCE, Array, require_finite
from tag2box.errors import ShapeError
from tag2box.sphere.bessel import bessel_ratio, bessel_ratio_slope

KappaRule = Callable[[npt.ArrayLike, int], Array]

LONGEST = 1.0 - 1e-6
MOST_ALONG = 48.0
"""More leaves a region no rival in its photo."""
NEWTON_STEPS = 5
"""Banerjee's start is within 7 % for every d and r; each step squares the error."""


def kappa_series(r: npt.ArrayLike, d: int, *, order: int) -> Array:
    """The series d r (1 + r^2 + ... + r^2m), (2.1); order 0 is the paper's best rule."""
    length = _require_length(r)
    powers = length[..., None] ** (2 * np.arange(order + 1))  # (..., m + 1)
    return d * length * powers.sum(axis=-1)


def kappa_rational(r: npt.ArrayLike, d: int) -> Array:
    """The rational d r / (1 - r^2), (2.2): the series to order infinity."""
    length = _require_length(r)
    return d * length / (1.0 - length**2)


def kappa_mardia_jupp(r: npt.ArrayLike, d: int) -> Array:
    """The approximation (2.3), made for small r."""
    length = _require_length(r)
    second = d / (d + 2) * length**2
    fourth = d**2 * (d + 8) / ((d + 2) ** 2 * (d + 4)) * length**4
    return d * length * (1.0 + second + fourth)


def kappa_exact(r: npt.ArrayLike, d: int) -> Array:
    """The inverse of the Bessel ratio, (2.4): Newton's method from Banerjee's start."""
    length = _require_length(r)
    kappa = length * (d - length**2) / (1.0 - length**2)
    for _ in range(NEWTON_STEPS):
        kappa = kappa - (bessel_ratio(kappa, d) - length) / bessel_ratio_slope(kappa, d)
    return kappa


def kappa_along(r: npt.ArrayLike, d: int, *, axes: int) -> Array:
    """The rational (2.2) as if features varied along so many axes only, whatever d is, and bounded, (2.5)."""
    return np.minimum(kappa_rational(r, axes), MOST_ALONG)


KAPPA_RULES: Mapping[str, KappaRule] = MappingProxyType(
    {
        "order-0": partial(kappa_series, order=0),
        "order-1": partial(kappa_series, order=1),
        "order-2": partial(kappa_series, order=2),
        "order-3": partial(kappa_series, order=3),
        "order-inf": kappa_rational,
        "mardia-jupp": kappa_mardia_jupp,
        "exact": kappa_exact,
    }
)
"""Every rule of the paper's appendix that estimates; the eighth keeps kappa constant and needs no function."""


def _require_length(r: npt.ArrayLike) -> Array:
    length = np.asarray(r, dtype=np.float64)
    require_finite("mean resultant length", length)
    outside = (length < 0) | (length > 1.0 + UNIT_TOLERANCE)  # lengths of float32 rows may be 1 and a little
    if outside.any():
        raise ShapeError(
            f"a mean resultant length of {length[outside].flat[0]:g} was given.",
            "a value between 0 and 1",
            "divide the length of the weighted sum by the sum of the weights.",
        )
    return np.minimum(length, LONGEST)
