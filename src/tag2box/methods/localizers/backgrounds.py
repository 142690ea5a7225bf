"""How much a region looks like background: log u(x) of docs/method.md, section 5.

n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from tag2box.arrays import Array, frozen, log_odds, require_finite, require_number, require_shape
from tag2box.methods.localizers.foregrounds import gaussian_logits
from tag2box.methods.view import FeatureMap, raw_features
from tag2box.sphere import VmfMixture, VonMisesFisher
from tag2box.types import ProposalBag, require_dimension


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
        require_dimension("background", bag, len(self.vmf.mean))
        return self.vmf.kappa * bag.directions.along(self.vmf.mean)


@final
@dataclass(frozen=True)
class MixtureBackground:
    """Several kinds of background; the full log density, because the components' normalisers differ (5.3)."""

    mixture: VmfMixture

    def log_score(self, bag: ProposalBag) -> Array:
        """Log density of the mixture."""
        require_dimension("background", bag, self.mixture.means.shape[1])
        return self.mixture.log_density(bag.features.astype(np.float64))


@final
@dataclass(frozen=True)
class ObjectnessBackground:
    """What the detector does not take for an object (5.4), for large support sets.

    The paper's factor alpha would cancel in the softmax; as an exponent it does what tuning it can do.
    """

    alpha: float = 1.0
    epsilon: float = 1e-6

    def __post_init__(self) -> None:
        require_number("alpha", self.alpha)
        require_number("epsilon", self.epsilon, above=0.0)

    def log_score(self, bag: ProposalBag) -> Array:
        """Alpha times the log of one minus objectness."""
        return self.alpha * np.log(1.0 - bag.objectness.astype(np.float64) + self.epsilon)


@final
@dataclass(frozen=True)
class OddsBackground:
    """Objectness as prior odds (5.6): twice as likely to frame an object counts twice, also where both are unlikely.

    Where objectness is small, (5.4) is flat and says nothing; odds are not.
    """

    epsilon: float = 1e-4

    def __post_init__(self) -> None:
        require_number("epsilon", self.epsilon, above=0.0)

    def log_score(self, bag: ProposalBag) -> Array:
        """Log odds against being an object."""
        return -log_odds(bag.objectness.astype(np.float64), self.epsilon)


@final
@dataclass(frozen=True, eq=False)
class ScoredBackground:
    """What another score of regions takes for background (5.12): a logistic regression on features, for example."""

    score: Callable[[ProposalBag], Array]
    """(n,), the higher the less it looks like background"""

    def log_score(self, bag: ProposalBag) -> Array:
        """Its opposite, of the regions as they are: the score does not look from the centre."""
        return -self.score(bag.plain())


@final
@dataclass(frozen=True)
class SummedBackground:
    """Several backgrounds at once, each with a weight (5.5): what base regions look like, and what no object is."""

    parts: tuple[tuple[float, Background], ...]

    def log_score(self, bag: ProposalBag) -> Array:
        """The weighted sum."""
        total = np.zeros(len(bag))
        for weight, background in self.parts:
            total += weight * background.log_score(bag)
        return total


@final
@dataclass(frozen=True, eq=False)
class GaussianBackground:
    """A spherical Gaussian on the features that the Gaussian foreground sees (7.4)."""

    mean: Array
    """(d,)"""
    sigma: float
    features: FeatureMap = raw_features

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", frozen(self.mean, np.float64))
        require_finite("mean of the background", self.mean)
        require_number("sigma of the background", self.sigma, above=0.0)

    def log_score(self, bag: ProposalBag) -> Array:
        """Minus half the squared distance to the mean, in units of sigma."""
        require_dimension("background", bag, len(self.mean))
        return gaussian_logits(self.features(bag), self.mean, self.sigma)


def fit_gaussian_background(features: Array, feature_map: FeatureMap = raw_features) -> GaussianBackground:
    """Maximum-likelihood spherical Gaussian of base features (n, d) as ``feature_map`` gives them."""
    require_shape("base features", features, (None, None))
    require_number("the number of base features", len(features), at_least=2)
    mean = features.mean(axis=0)
    return GaussianBackground(mean, float(np.sqrt(np.mean((features - mean) ** 2))), feature_map)
