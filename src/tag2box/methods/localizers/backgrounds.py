"""How much a region looks like background: log u(x) of docs/method.md, section 5.

n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from tag2box.arrays import Array, Bools, frozen, log_odds, require_finite, require_number, require_shape
from tag2box.boxes import box_coverage, box_overlaps
from tag2box.methods.localizers.foregrounds import gaussian_logits
from tag2box.methods.view import FeatureMap, raw_features
from tag2box.sphere import VmfMixture, VonMisesFisher
from tag2box.types import ProposalBag, require_dimension

HARDLY_TOUCHES = 0.3
"""Regions of which the smaller lies in the other by less are beside each other."""
SAME_PLACE = 0.5
"""Regions that overlap by more are one place."""
FEWEST_PLACES = 3.0
"""With fewer beside it, a region cannot be called common or rare."""
TINY = 1e-12


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
        return self.vmf.kappa * (bag.features.astype(np.float64) @ self.vmf.mean)


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
@dataclass(frozen=True)
class CommonBackground:
    """What is common in its own photo (5.7): a floor, grass or sky is like many places beside it, a thing is not.

    It needs neither base classes nor tags. A region with hardly anything beside it, such as the whole photo, cannot be
    judged so, and counts as the most common.
    """

    narrowness: float = 8.0
    """Of the kernel that says how alike two places are"""

    def __post_init__(self) -> None:
        require_number("narrowness", self.narrowness, above=0.0)

    def log_score(self, bag: ProposalBag) -> Array:
        """Log of the mean likeness to places beside the region, in deviations within the photo."""
        inside = box_coverage(bag.boxes, bag.boxes)  # (n, n)
        beside = np.maximum(inside, inside.T) < HARDLY_TOUCHES
        once = 1.0 / (box_overlaps(bag.boxes, bag.boxes) > SAME_PLACE).sum(axis=1)  # (n,), each place counts once
        features = bag.features.astype(np.float64)
        likeness = np.exp(self.narrowness * (features @ features.T - 1.0))
        places = beside @ once  # (n,)
        common = np.log(np.maximum((beside * likeness) @ once, TINY)) - np.log(np.maximum(places, TINY))
        return _in_deviations(common, places >= FEWEST_PLACES)


def _in_deviations(values: Array, judged: Bools) -> Array:
    """Values less their mean, over their deviation, both of those that are judged; the others get the highest."""
    if not judged.any():
        return np.zeros(len(values))
    known = values[judged]
    scaled = (values - known.mean()) / max(float(known.std()), TINY)
    return np.where(judged, scaled, max(float(scaled[judged].max()), 0.0))


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
