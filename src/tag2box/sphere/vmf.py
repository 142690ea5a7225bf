"""The von Mises-Fisher distribution on the unit sphere.

n = points, d = dimension. Equations: docs/method.md, section 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, require_finite, require_number, require_shape, require_unit_rows
from tag2box.sphere.bessel import log_normalizer
from tag2box.sphere.concentration import KappaRule, kappa_exact


@final
@dataclass(frozen=True, eq=False)
class VonMisesFisher:
    """A direction and how tightly points gather around it."""

    mean: Array
    """(d,), unit length"""
    kappa: float
    """0 is uniform"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", frozen(self.mean, np.float64))
        require_shape("mean direction", self.mean, (None,))
        require_finite("mean direction", self.mean)
        require_unit_rows("mean direction", self.mean[None])
        require_number("kappa", self.kappa, at_least=0.0)

    def log_density(self, points: Array) -> Array:
        """(n,) log density of unit points (n, d), (1.1)."""
        return self.kappa * (points @ self.mean) - log_normalizer(self.kappa, len(self.mean))

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        """(count, d) points: Wood's cosine along the mean, a uniform direction across it."""
        cosines = _sample_cosines(self.kappa, len(self.mean), count, rng)  # (count,)
        across = rng.standard_normal((count, len(self.mean)))
        across -= np.outer(across @ self.mean, self.mean)
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        return cosines[:, None] * self.mean + np.sqrt(np.clip(1.0 - cosines[:, None] ** 2, 0.0, None)) * across


def fit_vmf(points: Array, weights: Array | None = None, rule: KappaRule = kappa_exact) -> VonMisesFisher:
    """Maximum-likelihood fit to unit points (n, d), (2.4); another ``rule`` shrinks the concentration."""
    require_points(points)
    if weights is not None:
        require_shape("weights", weights, (len(points),))
        require_number("the smallest weight", float(weights.min()), at_least=0.0)
        require_number("the sum of the weights", float(weights.sum()), above=0.0)
    shares = np.full(len(points), 1.0 / len(points)) if weights is None else weights / weights.sum()  # (n,)
    mean, length = direction_and_length(shares @ points)
    return VonMisesFisher(mean, float(rule(length, len(mean))))


def require_points(points: Array) -> None:
    """Refuse anything but at least one row of unit length."""
    require_shape("points", points, (None, None))
    require_number("the number of points", len(points), at_least=1)
    require_unit_rows("points", points)


def direction_and_length(vector: Array) -> tuple[Array, float]:
    """A vector as unit direction and length; the zero vector points along the first axis."""
    length = float(np.linalg.norm(vector))
    if length == 0.0:
        return np.eye(1, len(vector))[0], 0.0
    return vector / length, length


def _sample_cosines(kappa: float, d: int, count: int, rng: np.random.Generator) -> Array:
    """Wood's (1994) rejection sampler for the cosine to the mean, written so that large kappa cancels nothing."""
    b = (d - 1) / (2.0 * kappa + np.hypot(2.0 * kappa, d - 1))
    peak = (1.0 - b) / (1.0 + b)
    height = kappa * peak + (d - 1) * np.log(4.0 * b / (1.0 + b) ** 2)
    cosines = np.empty(0)
    while len(cosines) < count:
        z = rng.beta((d - 1) / 2.0, (d - 1) / 2.0, size=2 * (count - len(cosines)) + 8)
        proposal = (1.0 - (1.0 + b) * z) / (1.0 - (1.0 - b) * z)
        surplus = kappa * proposal + (d - 1) * np.log(1.0 - peak * proposal) - height
        cosines = np.append(cosines, proposal[surplus >= np.log(rng.uniform(size=len(z)))])
    return cosines[:count]
