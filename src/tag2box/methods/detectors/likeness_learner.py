"""vMF-MIL and the likeness head as one learner.

n = regions of a bag
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array
from tag2box.methods.detectors.likeness_head import LikenessHead, Spread, likeness_head
from tag2box.methods.localizers import NO_BACKGROUND, Background, VmfMil
from tag2box.types import Localization, ProposalBag

THE_CLASS = "the class"


@final
@dataclass(frozen=True, eq=False)
class LikenessDetector:
    """The head of one class, and where the class was found."""

    head: LikenessHead
    localization: Localization

    def score(self, bag: ProposalBag) -> Array:
        """(n,) scores (9.6)."""
        return self.head.score(bag)[:, 0]


@final
@dataclass(frozen=True, eq=False)
class LikenessLearner:
    """Localizes, then asks how far the direction that was found stands out against base regions."""

    localizer: VmfMil
    spread: Spread
    ridge: float
    weight: float
    prior: Background = NO_BACKGROUND

    def learn(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> LikenessDetector:
        """Negatives are not used."""
        solution = self.localizer.learn(positives, negatives, rng)
        directions, center = solution.foreground.theta[None], self.localizer.center
        head = likeness_head(
            [THE_CLASS], directions, self.spread, ridge=self.ridge, weight=self.weight, center=center, prior=self.prior
        )
        return LikenessDetector(head, solution.localization)
