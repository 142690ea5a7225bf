"""The ablation's models: a Gaussian, and a Gaussian after Tukey's power transform.

M = images, n = regions of a bag, d = feature dimension. Equations: docs/method.md, section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array
from tag2box.errors import ShapeError
from tag2box.methods.localizers.backgrounds import Background
from tag2box.methods.localizers.clamps import NO_CLAMPS, Clamps
from tag2box.methods.localizers.foregrounds import GaussianForeground
from tag2box.methods.localizers.solution import Solution, solve
from tag2box.methods.localizers.stack import BagStack
from tag2box.methods.localizers.starts import Start, whole_images
from tag2box.types import Localization, ProposalBag

FeatureMap = Callable[[ProposalBag], Array]


def unit_features(bag: ProposalBag) -> Array:
    """(n, d) directions. On them a Gaussian with deviation s is a vMF with kappa = |theta| / s^2."""
    return bag.features.astype(np.float64)


def raw_features(bag: ProposalBag) -> Array:
    """(n, d) features at the length they had before normalisation."""
    return bag.features.astype(np.float64) * bag.norms[:, None]


def tukey_features(bag: ProposalBag, power: float = 0.5) -> Array:
    """(n, d) raw features to a power, (7.3)."""
    raw = raw_features(bag)
    if (raw < 0).any():
        raise ShapeError(
            f"image {bag.image_id!r} has negative features (the lowest is {raw.min():g}).",
            "features of at least 0, as after a rectifier",
            "use raw_features: the power transform does not exist for negative values.",
        )
    return raw**power


@final
@dataclass(frozen=True, eq=False)
class GaussianMil:
    """Finds the point that one region of every image is close to and the background is not."""

    sigma: float
    background: Background
    background_weight: float = 1.0
    features: FeatureMap = raw_features
    start: Start = whole_images
    max_steps: int = 20
    tol: float = 1e-7

    def localize(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> Localization:
        """The region with the most weight in each image; negatives are not used."""
        return self.solve(positives, rng).localization

    def solve(
        self, bags: Sequence[ProposalBag], rng: np.random.Generator, clamps: Clamps = NO_CLAMPS
    ) -> Solution[GaussianForeground]:
        """The whole story: every EM step, the localization and a scorer for new images."""

        def starts(stack: BagStack) -> list[GaussianForeground]:
            return [GaussianForeground(mean, self.sigma) for mean in self.start(stack, rng)]

        return solve(bags, self._view, starts, clamps, max_steps=self.max_steps, tol=self.tol)

    def _view(self, bag: ProposalBag) -> tuple[Array, Array]:
        """Features (n, d) and weighted background scores (n,) of a bag as this model sees it."""
        return self.features(bag), self.background_weight * self.background.log_score(bag)
