"""A localizer and the cosine head as one learner: the paper's few-shot detector of one class.

n = regions of a bag
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array
from tag2box.methods.detectors.cosine_head import TAU, CosineHead
from tag2box.methods.detectors.few_shot import fit_few_shot
from tag2box.methods.localizers import NO_BACKGROUND, Background, Localizer
from tag2box.types import Localization, ProposalBag

THE_CLASS = "the class"


@final
@dataclass(frozen=True, eq=False)
class CosineDetector:
    """One cosine classifier, and where its class was found."""

    head: CosineHead
    localization: Localization

    def score(self, bag: ProposalBag) -> Array:
        """(n,) scores (9.1)."""
        return self.head.score(bag)[:, 0]


@final
@dataclass(frozen=True, eq=False)
class CosineLearner:
    """Localizes, then separates the regions found from all regions of the negative images."""

    localizer: Localizer
    tau: float = TAU
    prior: Background = NO_BACKGROUND
    balanced: bool = False
    """Whether the few positives weigh as much as all negatives, which the paper does not say"""

    def learn(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> CosineDetector:
        """The classifier of one class does not depend on the others, so each can be learned alone."""
        tags = [{THE_CLASS}] * len(positives) + [set[str]()] * len(negatives)
        return self.learn_classes([*positives, *negatives], tags, [THE_CLASS], rng)[THE_CLASS]

    def learn_classes(
        self,
        bags: Sequence[ProposalBag],
        tags: Sequence[Collection[str]],
        classes: Sequence[str],
        rng: np.random.Generator,
    ) -> dict[str, CosineDetector]:
        """All classes of one set of images: the features are stacked once."""
        fit = fit_few_shot(
            bags, tags, classes, self.localizer, rng, tau=self.tau, balanced=self.balanced, prior=self.prior
        )
        return {label: CosineDetector(fit.head.of_class(label), fit.localizations[label]) for label in classes}
