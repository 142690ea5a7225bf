"""Answers that learn nothing: what every method must beat.

n = regions of a bag
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array
from tag2box.methods.localizers import OddsBackground
from tag2box.types import WHOLE_IMAGE, Localization, ProposalBag

RegionScore = Callable[[ProposalBag], Array]
"""(n,) scores of the regions of a bag."""


@final
@dataclass(frozen=True, eq=False)
class UnlearnedObject:
    """The regions that a score prefers, whatever the images show."""

    localization: Localization
    score: RegionScore


@final
@dataclass(frozen=True)
class Floor:
    """Prefers regions by a score that looks at one image at a time."""

    score: RegionScore

    def learn(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> UnlearnedObject:
        """The best region of each image."""
        scores = [self.score(bag) for bag in positives]
        return UnlearnedObject(Localization.of_best(scores), self.score)


def whole_image(bag: ProposalBag) -> Array:
    """One for the whole image, zero for every part of it."""
    return (np.arange(len(bag)) == WHOLE_IMAGE).astype(np.float64)


def objectness(bag: ProposalBag) -> Array:
    """What the detector takes for an object, whatever the class."""
    return bag.objectness.astype(np.float64)


def objectness_odds(bag: ProposalBag) -> Array:
    """The same as log odds: what methods add to their own scores (5.6)."""
    return -OddsBackground().log_score(bag)


def random_region(bag: ProposalBag) -> Array:
    """Chance, the same for the same image on every machine."""
    return np.random.default_rng(list(bag.image_id.encode())).uniform(size=len(bag))
