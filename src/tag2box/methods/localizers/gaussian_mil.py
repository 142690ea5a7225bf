"""The ablation's models: a Gaussian, and a Gaussian after Tukey's power transform.

M = images, n = regions of a bag, d = feature dimension. Equations: docs/method.md, section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, require_number
from tag2box.methods.localizers.backgrounds import Background
from tag2box.methods.localizers.em import Em, Solution, run_em, solve
from tag2box.methods.localizers.foregrounds import GaussianForeground, half_squares
from tag2box.methods.localizers.stack import BagStack
from tag2box.methods.localizers.starts import NO_CLAMPS, Clamps, Start, whole_images
from tag2box.methods.view import FeatureMap, View, center_bag, raw_features
from tag2box.rows import Directions
from tag2box.types import ProposalBag


@final
@dataclass(frozen=True, eq=False)
class GaussianMil:
    """Finds the point that one region of every image is close to and the background is not."""

    sigma: float
    background: Background
    background_weight: float = 1.0
    features: FeatureMap = raw_features
    start: Start = whole_images
    center: Array | None = None
    """(d,), mean of the base features; None leaves features as they are."""
    max_steps: int = 20
    tol: float = 1e-7
    em: Em = run_em
    """What runs EM"""

    def __post_init__(self) -> None:
        require_number("sigma", self.sigma, above=0.0)
        require_number("background weight", self.background_weight)
        require_number("max_steps", self.max_steps, at_least=0)
        if self.center is not None:
            object.__setattr__(self, "center", frozen(self.center, np.float64))

    def learn(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> Solution[GaussianForeground]:
        """The common object of the positives; negatives are not used."""
        return self.solve(positives, rng)

    def solve(
        self, bags: Sequence[ProposalBag], rng: np.random.Generator, clamps: Clamps = NO_CLAMPS
    ) -> Solution[GaussianForeground]:
        """The whole story: every EM step, the localization and a scorer for new images."""

        def foreground(mean: Array, _: BagStack) -> GaussianForeground:
            return GaussianForeground(mean, self.sigma)

        em = partial(self.em, max_steps=self.max_steps, tol=self.tol)
        return solve(bags, self._view, self.start, foreground, rng, clamps, em)

    def _view(self, bag: ProposalBag) -> View:
        """A bag as this model sees it."""
        centered = center_bag(bag, self.center)
        features = self.features(centered)
        against = self.background_weight * self.background.log_score(centered) + half_squares(features, self.sigma)
        return View(Directions.of(features, features.shape[1], np.ones(len(features))), against)
