"""Mixtures of von Mises-Fisher distributions, fitted by soft EM.

n = points, d = dimension, H = components. Equations: docs/method.md, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, require_number, require_shape, require_unit_rows
from tag2box.errors import ShapeError
from tag2box.sphere.bessel import log_normalizer
from tag2box.sphere.concentration import kappa_exact
from tag2box.sphere.vmf import direction_and_length, require_points

SHARES_TOLERANCE = 1e-6
LARGEST_KAPPA = 1e5
"""A component that has shrunk onto one point stops here instead of taking the likelihood to infinity."""


@final
@dataclass(frozen=True, eq=False)
class VmfMixture:
    """Several directions, each with its share and its concentration."""

    shares: Array
    """(H,), sum 1"""
    means: Array
    """(H, d), unit rows"""
    kappas: Array
    """(H,)"""

    def __post_init__(self) -> None:
        for name in ("shares", "means", "kappas"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))
        require_shape("mixture means", self.means, (len(self.shares), None))
        require_shape("mixture kappas", self.kappas, (len(self.shares),))
        require_unit_rows("mixture means", self.means)
        require_number("the smallest share", float(self.shares.min()), at_least=0.0)
        require_number("the smallest kappa", float(self.kappas.min()), at_least=0.0)
        if not abs(self.shares.sum() - 1.0) < SHARES_TOLERANCE:
            raise ShapeError(
                f"the shares of the mixture sum to {self.shares.sum():g}.", "a sum of 1", "divide them by their sum."
            )

    def log_joint(self, points: Array) -> Array:
        """(n, H) log of share times density of each component, (3.1)."""
        normalizers = log_normalizer(self.kappas, self.means.shape[1])  # (H,)
        with np.errstate(divide="ignore"):  # a share of zero is a component that nothing belongs to
            return points @ self.means.T * self.kappas - normalizers + np.log(self.shares)

    def log_density(self, points: Array) -> Array:
        """(n,) log density of unit points (n, d)."""
        return np.logaddexp.reduce(self.log_joint(points), axis=1)


@final
@dataclass(frozen=True, eq=False)
class MixtureFit:
    """A fitted mixture and the mean log-likelihood after every step."""

    mixture: VmfMixture
    likelihoods: tuple[float, ...]


def fit_vmf_mixture(
    points: Array,
    components: int,
    rng: np.random.Generator,
    *,
    tie_kappas: bool = False,
    max_steps: int = 100,
    tol: float = 1e-7,
) -> MixtureFit:
    """Alternate (3.2) and (3.3) until the mean log-likelihood of ``points`` (n, d) grows by less than ``tol``."""
    _require_enough(points, components)
    mixture = _mixture_from(points, _nearest(points, _spread_seeds(points, components, rng)), tie_kappas)
    likelihoods = [float(mixture.log_density(points).mean())]
    for _ in range(max_steps):
        mixture = _mixture_from(points, responsibilities(mixture, points), tie_kappas)
        likelihoods.append(float(mixture.log_density(points).mean()))
        if likelihoods[-1] - likelihoods[-2] < tol:
            break
    return MixtureFit(mixture, tuple(likelihoods))


def responsibilities(mixture: VmfMixture, points: Array) -> Array:
    """(n, H) posterior share of each component in each point, (3.2)."""
    joint = mixture.log_joint(points)
    return np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))


def _mixture_from(points: Array, belonging: Array, tie_kappas: bool) -> VmfMixture:
    """The M-step (3.3); tied components share the concentration of their pooled resultant."""
    totals = belonging.sum(axis=0)  # (H,)
    resultants = belonging.T @ points  # (H, d)
    pairs = [direction_and_length(resultant) for resultant in resultants]
    lengths = np.array([length for _, length in pairs])  # (H,)
    mean_lengths = np.divide(lengths, totals, out=np.zeros_like(lengths), where=totals > 0)
    if tie_kappas:
        mean_lengths = np.full_like(lengths, lengths.sum() / len(points))
    kappas = np.minimum(kappa_exact(np.minimum(mean_lengths, 1.0), points.shape[1]), LARGEST_KAPPA)
    return VmfMixture(totals / len(points), np.stack([direction for direction, _ in pairs]), kappas)


def _spread_seeds(points: Array, components: int, rng: np.random.Generator) -> Array:
    """(H, d) starting directions by k-means++ with the distance 1 - cosine."""
    seeds = [points[rng.integers(len(points))]]
    for _ in range(1, components):
        distances = np.clip(1.0 - (points @ np.stack(seeds).T).max(axis=1), 0.0, None)  # (n,)
        chances = distances / distances.sum() if distances.sum() > 0 else np.full(len(points), 1.0 / len(points))
        seeds.append(points[rng.choice(len(points), p=chances)])
    return np.stack(seeds)


def _nearest(points: Array, seeds: Array) -> Array:
    """(n, H) one-hot rows: each point belongs to the seed with the highest cosine."""
    return np.eye(len(seeds))[(points @ seeds.T).argmax(axis=1)]


def _require_enough(points: Array, components: int) -> None:
    require_points(points)
    if not 1 <= components <= len(points):
        raise ShapeError(
            f"a mixture of {components} components was asked for with {len(points)} points.",
            "at least one component and at least as many points as components",
            "lower the number of components or give more points.",
        )
