"""How much a region looks like background: log u(x) of docs/method.md, section 5.

n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from tag2box.arrays import Array
from tag2box.sphere import VmfMixture, VonMisesFisher
from tag2box.types import ProposalBag


class Background(Protocol):
    """Gives each region of a bag a log score that rises with its likeness to background."""

    def log_score(self, bag: ProposalBag) -> Array:
        """(n,) log u of every region, up to a constant."""
        ...


@final
@dataclass(frozen=True)
class NoBackground:
    """Scores every region alike: the ablation without a background model."""

    def log_score(self, bag: ProposalBag) -> Array:
        """Zero everywhere."""
        return np.zeros(len(bag))


NO_BACKGROUND = NoBackground()


@final
@dataclass(frozen=True)
class VmfBackground:
    """The paper's background: one vMF fitted on base regions, its normaliser dropped (5.2)."""

    vmf: VonMisesFisher

    def log_score(self, bag: ProposalBag) -> Array:
        """Concentration times cosine."""
        return self.vmf.kappa * (bag.features.astype(np.float64) @ self.vmf.mean)


@final
@dataclass(frozen=True)
class MixtureBackground:
    """Several kinds of background; the full log density, because the components' normalisers differ (5.3)."""

    mixture: VmfMixture

    def log_score(self, bag: ProposalBag) -> Array:
        """Log density of the mixture."""
        return self.mixture.log_density(bag.features.astype(np.float64))


@final
@dataclass(frozen=True)
class ObjectnessBackground:
    """What the detector does not take for an object (5.4), for large support sets.

    The paper's factor alpha would cancel in the softmax; as an exponent it does what tuning it can do.
    """

    alpha: float = 1.0
    epsilon: float = 1e-6

    def log_score(self, bag: ProposalBag) -> Array:
        """Alpha times the log of one minus objectness."""
        return self.alpha * np.log(1.0 - bag.objectness.astype(np.float64) + self.epsilon)


@final
@dataclass(frozen=True, eq=False)
class GaussianBackground:
    """A spherical Gaussian on unnormalised features, for the Gaussian foreground (7.4)."""

    mean: Array
    """(d,)"""
    sigma: float

    def log_score(self, bag: ProposalBag) -> Array:
        """Minus half the squared distance to the mean, in units of sigma."""
        apart = bag.features.astype(np.float64) * bag.norms[:, None] - self.mean  # (n, d)
        return -0.5 * np.einsum("nd,nd->n", apart, apart) / self.sigma**2


def fit_gaussian_background(raw_features: Array) -> GaussianBackground:
    """Maximum-likelihood spherical Gaussian of raw base features (n, d)."""
    mean = raw_features.mean(axis=0)
    return GaussianBackground(mean, float(np.sqrt(np.mean((raw_features - mean) ** 2))))
