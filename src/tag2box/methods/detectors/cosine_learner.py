"""A localizer and the cosine head as one learner: the paper's few-shot detector.

n = regions of a bag
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array
from tag2box.errors import TooFewImagesError
from tag2box.methods.detectors.cosine_head import TAU, CosineHead, fit_cosine_head, require_images, require_tagged
from tag2box.methods.learners import Localizer
from tag2box.methods.localizers import NO_BACKGROUND, Background
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


@final
@dataclass(frozen=True, eq=False)
class FewShotFit:
    """A learned head and where each class was found in the support images."""

    head: CosineHead
    localizations: dict[str, Localization]
    """Class → localization of the support images tagged with it, in their order."""


def fit_few_shot(
    bags: Sequence[ProposalBag],
    tags: Sequence[Collection[str]],
    classes: Sequence[str],
    localizer: Localizer,
    rng: np.random.Generator,
    *,
    tau: float = TAU,
    balanced: bool = False,
    prior: Background = NO_BACKGROUND,
) -> FewShotFit:
    """Tags in, detector out: ``tags[i]`` are the classes that ``bags[i]`` shows; none makes it a negative for all."""
    require_tagged(bags, tags, classes)
    localizations = {label: _localize(label, bags, tags, localizer, rng) for label in classes}
    head = fit_cosine_head(bags, tags, localizations, tau=tau, balanced=balanced, center=localizer.center, prior=prior)
    return FewShotFit(head, localizations)


def _localize(
    label: str,
    bags: Sequence[ProposalBag],
    tags: Sequence[Collection[str]],
    localizer: Localizer,
    rng: np.random.Generator,
) -> Localization:
    positives = [bag for bag, labels in zip(bags, tags, strict=True) if label in labels]
    negatives = [bag for bag, labels in zip(bags, tags, strict=True) if label not in labels]
    require_images(label, len(positives))
    try:
        return localizer.learn(positives, negatives, rng).localization
    except TooFewImagesError as error:
        raise TooFewImagesError(f"class {label!r}: {error.wrong}", error.expected, error.remedy) from error
