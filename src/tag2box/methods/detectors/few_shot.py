"""Few-shot weakly-supervised detection: localize every class, then learn the head."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.errors import TooFewImagesError
from tag2box.methods.detectors.cosine_head import TAU, CosineHead, fit_cosine_head, require_images, require_tagged
from tag2box.methods.localizers import NO_BACKGROUND, Background, Localizer
from tag2box.types import Localization, ProposalBag


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
