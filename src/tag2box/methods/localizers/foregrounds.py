"""What the common object's features look like: two models behind one door.

R = regions, d = feature dimension, M = images. Equations: docs/method.md, sections 5 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, Self, final

import numpy as np

from tag2box.arrays import Array, frozen
from tag2box.rows import Directions, Rows
from tag2box.sphere import KappaRule, direction_and_length, log_normalizer


class Foreground(Protocol):
    """A density over features, linear in them but for what depends on a region alone; EM re-estimates it from sums."""

    @property
    def direction(self) -> Array:
        """(d,), along which the log density rises."""
        ...

    @property
    def factor(self) -> float:
        """How much it rises along the direction."""
        ...

    @property
    def constant(self) -> float:
        """What is added for every region alike."""
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

    @property
    def direction(self) -> Array:
        """The logit is concentration times cosine, (5.1)."""
        return self.theta

    @property
    def factor(self) -> float:
        """The concentration."""
        return self.kappa

    @property
    def constant(self) -> float:
        """None."""
        return 0.0

    @property
    def log_normalizer(self) -> float:
        """Log Z of (1.2)."""
        return _log_normalizer(self.kappa, len(self.theta))

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

    @property
    def direction(self) -> Array:
        """The logit is minus half the squared distance to the mean, in units of sigma (7.1).

        The part of it that depends on a region alone is the view's to subtract: ``half_squares``.
        """
        return self.mean

    @property
    def factor(self) -> float:
        """One over the squared deviation."""
        return self.sigma**-2

    @property
    def constant(self) -> float:
        """Minus half the squared length of the mean, in units of sigma."""
        return -0.5 * float(self.mean @ self.mean) / self.sigma**2

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


@lru_cache(maxsize=64)
def _log_normalizer(kappa: float, d: int) -> float:
    """EM asks for the same one in every step."""
    return float(log_normalizer(kappa, d))


def logits(foreground: Foreground, directions: Directions) -> Array:
    """(R,) log density of regions, without its normaliser."""
    return foreground.factor * directions.along(foreground.direction) + foreground.constant


def half_squares(features: Rows, sigma: float) -> Array:
    """(R,) half the squared length of features (R, d), in units of sigma."""
    return 0.5 * np.einsum("rd,rd->r", features, features) / sigma**2


def gaussian_logits(features: Rows, mean: Array, sigma: float) -> Array:
    """(R,) minus half the squared distance to the mean, in units of sigma."""
    apart = features - mean  # (R, d)
    return -0.5 * np.einsum("rd,rd->r", apart, apart) / sigma**2
