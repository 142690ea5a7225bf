"""The two Bessel quantities of the vMF density, safe for d from 2 to 4096 and kappa from 0 to 1e5.

d = dimension, nu = d/2 - 1, Z = normaliser, A = Bessel ratio. Equations: docs/method.md, section 1.

From nu = 32 upwards both are uniform (Debye) expansions, arranged so that nothing cancels. Lower dimensions climb
there by the three-term recurrence, which is stable in this direction, so there is one code path and no table.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Polynomial
from numpy.polynomial.polynomial import polyval

from tag2box.arrays import Array, require_finite
from tag2box.errors import ShapeError

UNIFORM_FROM = 32.0
"""Order nu from which the uniform expansion is exact to the last digits."""

TERMS = 10


def _debye_polynomials(count: int) -> list[Polynomial]:
    """u_0 ... u_count of (1.6), by their recurrence."""
    t = Polynomial([0.0, 1.0])
    u = [Polynomial([1.0])]
    for _ in range(count):
        slope = 0.5 * t**2 * (1 - t**2) * u[-1].deriv()
        area = 0.125 * ((1 - 5 * t**2) * u[-1]).integ()
        u.append(slope + area)
    return u


@cache
def _expansion(nu: float) -> tuple[Array, Array]:
    """Coefficients in t of U and W, the two sums of (1.6), at one order."""
    u = _debye_polynomials(TERMS)
    t = Polynomial([0.0, 1.0])
    big = sum((u[m] / nu**m for m in range(TERMS + 1)), Polynomial([0.0]))
    small = sum(((0.5 * u[m] + t * u[m].deriv()) / nu ** (m + 1) for m in range(TERMS)), Polynomial([0.0]))
    return np.asarray(big.coef, np.float64), np.asarray(small.coef, np.float64)


def log_normalizer(kappa: npt.ArrayLike, d: int) -> Array:
    """Logarithm of Z(kappa), (1.2): the integral of exp(kappa mu.x) over the unit sphere in d dimensions."""
    k = _require_concentration(kappa, d)
    nu, steps = _climb(d)
    value = _log_normalizer_uniform(k, nu)
    for log_ratio in np.log(_ratios_over_kappa(k, nu, steps)[1:]):
        value = value - log_ratio - math.log(2.0 * math.pi)  # (1.4) downwards
    return value


def bessel_ratio(kappa: npt.ArrayLike, d: int) -> Array:
    """A(kappa), (1.3): the mean resultant length of the vMF distribution."""
    k = _require_concentration(kappa, d)
    nu, steps = _climb(d)
    return k * _ratios_over_kappa(k, nu, steps)[-1]


def bessel_ratio_slope(kappa: npt.ArrayLike, d: int) -> Array:
    """Derivative of A at kappa, (1.5)."""
    k = _require_concentration(kappa, d)
    nu, steps = _climb(d)
    over_kappa = _ratios_over_kappa(k, nu, steps)[-1]
    return 1.0 - (k * over_kappa) ** 2 - (d - 1) * over_kappa


def _climb(d: int) -> tuple[float, int]:
    """The order to expand at, and the number of recurrence steps from there down to nu = d/2 - 1."""
    nu = d / 2 - 1
    steps = max(0, math.ceil(UNIFORM_FROM - nu))
    return nu + steps, steps


def _ratios_over_kappa(k: Array, nu: float, steps: int) -> Array:
    """A/kappa at the orders nu, nu - 1, ..., nu - steps: (steps + 1, ...)."""
    ratios = [_ratio_over_kappa_uniform(k, nu)]
    for order in nu - np.arange(steps):
        ratios.append(1.0 / (2.0 * order + k * k * ratios[-1]))  # (1.4)
    return np.stack(ratios)


def _log_normalizer_uniform(k: Array, nu: float) -> Array:
    """(1.7), with the logarithm of kappa cancelled by hand so that kappa = 0 is an ordinary value."""
    z = k / nu
    root = np.sqrt(1.0 + z * z)
    big, _ = _expansion(nu)
    constant = (nu + 1.0) * math.log(2.0 * math.pi) - nu * math.log(nu) - 0.5 * math.log(2.0 * math.pi * nu)
    return constant + nu * (root - np.log1p(root)) - 0.5 * np.log(root) + np.log(polyval(1.0 / root, big))


def _ratio_over_kappa_uniform(k: Array, nu: float) -> Array:
    """(1.8): A/kappa as the difference of a large and a small positive term."""
    s = np.hypot(nu, k)
    big, small = _expansion(nu)
    return 1.0 / (s + nu) - nu / s**2 * polyval(nu / s, small) / polyval(nu / s, big)


def _require_concentration(kappa: npt.ArrayLike, d: int) -> Array:
    k = np.asarray(kappa, dtype=np.float64)
    require_finite("kappa", k)
    if d < 2 or (k < 0).any():
        raise ShapeError(
            f"a vMF distribution was asked for with dimension {d} and kappa from {k.min():g}.",
            "a dimension of at least 2 and kappa of at least 0",
            "check the order of the arguments: kappa first, then the dimension.",
        )
    return k
