"""What the common object's features look like: two models behind one door.

R = regions, d = feature dimension, M = images. Equations: docs/method.md, sections 5 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self, final

import numpy as np

from tag2box.arrays import Array, frozen
from tag2box.methods.view import Rows
from tag2box.sphere import KappaRule, direction_and_length, log_normalizer


class Foreground(Protocol):
    """A density over features that EM re-estimates from weighted sums."""

    def logits(self, features: Rows) -> Array:
        """(R,) log density of features (R, d), without its normaliser."""
        ...

    @property
    def log_normalizer(self) -> float:
        """What the logits lack to be log densities."""
        ...

    def updated(self, weighted_sum: Array, images: int) -> Self:
        """The model that maximises the expected likelihood, given the weighted sum (d,) over M images."""
        ...

    def change(self, previous: Self) -> float:
        """How far this model is from the one before; 0 when nothing moved."""
        ...


@final
@dataclass(frozen=True, eq=False)
class VmfForeground:
    """The paper's model: a direction, and a concentration that is constant or follows a rule."""

    theta: Array
    """(d,), unit length, or all zeros: no direction yet, so that the background decides alone"""
    kappa: float
    rule: KappaRule | None = None
    """Re-estimates kappa in every M-step (6.3); None keeps it constant."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", frozen(self.theta, np.float64))

    def logits(self, features: Rows) -> Array:
        """Concentration times cosine, (5.1)."""
        cosines = features @ self.theta.astype(features.dtype, copy=False)  # (R,)
        return self.kappa * cosines.astype(np.float64, copy=False)

    @property
    def log_normalizer(self) -> float:
        """Log Z of (1.2)."""
        return float(log_normalizer(self.kappa, len(self.theta)))

    def updated(self, weighted_sum: Array, images: int) -> Self:
        """(6.2) and, with a rule, (6.3). A sum of zero has no direction and changes nothing."""
        direction, length = direction_and_length(weighted_sum)
        if length == 0.0:
            return self
        kappa = self.kappa if self.rule is None else float(self.rule(min(length / images, 1.0), len(direction)))
        return type(self)(direction, kappa, self.rule)

    def change(self, previous: Self) -> float:
        """One minus the cosine between the directions, or the relative step of kappa if that is larger."""
        turn = 1.0 - float(previous.theta @ self.theta)
        return max(turn, abs(self.kappa - previous.kappa) / max(self.kappa, 1e-300))


@final
@dataclass(frozen=True, eq=False)
class GaussianForeground:
    """The ablation's model: a spherical Gaussian with fixed deviation on unnormalised features."""

    mean: Array
    """(d,)"""
    sigma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", frozen(self.mean, np.float64))

    def logits(self, features: Rows) -> Array:
        """Minus half the squared distance to the mean, in units of sigma, (7.1)."""
        return gaussian_logits(features, self.mean, self.sigma)

    @property
    def log_normalizer(self) -> float:
        """Log of the Gaussian integral."""
        return 0.5 * len(self.mean) * float(np.log(2.0 * np.pi * self.sigma**2))

    def updated(self, weighted_sum: Array, images: int) -> Self:
        """The mean of the images' weighted features, (7.2)."""
        return type(self)(weighted_sum / images, self.sigma)

    def change(self, previous: Self) -> float:
        """Squared step of the mean, in units of sigma."""
        step = self.mean - previous.mean
        return float(step @ step) / self.sigma**2


def gaussian_logits(features: Rows, mean: Array, sigma: float) -> Array:
    """(R,) minus half the squared distance to the mean, in units of sigma."""
    apart = features - mean  # (R, d)
    return -0.5 * np.einsum("rd,rd->r", apart, apart) / sigma**2
