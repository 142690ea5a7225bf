"""LSDA: from classifiers of whole images to detectors, by what base classes gained (docs/method.md, section 16).

C = base classes, d = feature dimension, n = regions of a bag
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import final

import numpy as np

from tag2box.arrays import Array, Float32s, frozen, require_number, require_shape
from tag2box.methods.floors import objectness_odds
from tag2box.rows import product
from tag2box.types import WHOLE_IMAGE, Localization, ProposalBag, require_dimension


@final
@dataclass(frozen=True, eq=False)
class BaseClassifiers:
    """What base classes look like as whole images and as regions, each as a linear classifier of length 1."""

    images: Float32s
    """(C, d), of whole images against those of all classes, (16.1)"""
    regions: Float32s
    """(C, d), of regions on objects against background"""
    mean: Float32s
    """(d,), of whole base images"""
    solver: Float32s
    """(d, d), inverse of how whole images scatter: what makes a classifier of a class's mean"""

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, frozen(getattr(self, each.name), np.float32))
        (d,) = self.mean.shape
        require_shape("classifiers of regions", self.regions, (len(self.images), d))
        require_shape("classifiers of images", self.images, (len(self.images), d))
        require_shape("solver of LSDA", self.solver, (d, d))


@final
@dataclass(frozen=True, eq=False)
class Lsda:
    """A new class's classifier of whole images, moved as those of its nearest base classes were moved, (16.2)."""

    base: BaseClassifiers
    nearest: int = 10
    objectness_weight: float = 0.0
    """How much the detector's objectness counts"""

    def __post_init__(self) -> None:
        require_number("nearest classes", self.nearest, at_least=1)
        require_number("objectness weight", self.objectness_weight, at_least=0.0)

    def learn(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> LsdaFit:
        """Classify whole images, and move; negatives are base images, which are known already."""
        for bag in positives:
            require_dimension("LSDA", bag, len(self.base.mean))
        mean = np.mean([bag.directions.at([WHOLE_IMAGE])[0] for bag in positives], axis=0)
        own = unit(product((mean - self.base.mean).astype(np.float32), self.base.solver))  # (d,)
        far = np.linalg.norm(self.base.images - own, axis=1)  # (C,)
        near = np.argsort(far, kind="stable")[: self.nearest]
        detector = own + (self.base.regions[near] - self.base.images[near]).mean(axis=0)
        learned = LsdaFit(self, detector.astype(np.float64), Localization.of_best([]))
        found = Localization.of_best([learned.score(bag) for bag in positives])
        return LsdaFit(self, learned.detector, found)


@final
@dataclass(frozen=True, eq=False)
class LsdaFit:
    """A detector of regions that never saw one."""

    learner: Lsda
    detector: Array
    """(d,)"""
    localization: Localization

    def score(self, bag: ProposalBag) -> Array:
        """(n,)."""
        return bag.directions.along(self.detector) + self.learner.objectness_weight * objectness_odds(bag)


def unit(vector: Float32s) -> Float32s:
    """At length 1."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
