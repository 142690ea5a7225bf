"""The detector that users get, in closed form: how much more a region is like the object than base regions are.

C = classes, n = regions of a bag, d = feature dimension. Equations: docs/method.md, section 9.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, require_finite, require_number, require_shape
from tag2box.errors import ShapeError
from tag2box.methods.detectors.query import MAX_DETECTIONS, MAX_OVERLAP, ranked_classes
from tag2box.methods.localizers import (
    NO_BACKGROUND,
    NO_CLAMPS,
    Background,
    Clamps,
    SceneMil,
    Solution,
    VmfForeground,
    VmfMil,
    learn_apart,
)
from tag2box.methods.spread import Spread
from tag2box.methods.view import center_bag
from tag2box.types import Detections, Localization, ProposalBag, require_dimension

THE_CLASS = "the class"


@final
@dataclass(frozen=True, eq=False)
class LikenessHead:
    """Scores regions for every class in deviations of base regions; a class owes nothing to the others."""

    classes: tuple[str, ...]
    weights: Array
    """(C, d)"""
    offsets: Array
    """(C,)"""
    center: Array | None = None
    """(d,), mean of the base features; None leaves features as they are"""
    prior: Background = NO_BACKGROUND
    """What speaks against a region whatever the class, such as a low objectness (9.4)"""

    def __post_init__(self) -> None:
        for name in ("weights", "offsets"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))
            require_finite(f"{name} of the head", getattr(self, name))
        require_shape("weights of the head", self.weights, (len(self.classes), None))
        require_shape("offsets of the head", self.offsets, (len(self.classes),))
        if len(set(self.classes)) != len(self.classes):
            raise ShapeError(
                f"a class occurs twice among {', '.join(self.classes)}.", "each class once", "rename one of them."
            )

    def of_class(self, label: str) -> LikenessHead:
        """The head of one class alone."""
        row = [self.classes.index(label)]
        return replace(self, classes=(label,), weights=self.weights[row], offsets=self.offsets[row])

    def score(self, bag: ProposalBag) -> Array:
        """(n, C) scores, (9.6), less what the prior says against each region (9.4)."""
        require_dimension("detection head", bag, self.weights.shape[1])
        likeness = center_bag(bag, self.center).features.astype(np.float64) @ self.weights.T - self.offsets
        return likeness - self.prior.log_score(bag)[:, None]

    def score_of(self, place: int, bag: ProposalBag) -> Array:
        """(n,) scores for one class, by its place."""
        features = center_bag(bag, self.center).features
        likeness = features @ self.weights[place].astype(features.dtype)
        return likeness - self.offsets[place] - self.prior.log_score(bag)

    def detect(
        self, bag: ProposalBag, *, max_overlap: float = MAX_OVERLAP, max_detections: int = MAX_DETECTIONS
    ) -> Detections:
        """The best regions for every class, suppressed within each class, ranked together."""
        return ranked_classes(
            bag, self.score(bag), self.classes, max_overlap=max_overlap, max_detections=max_detections
        )


def likeness_head(
    classes: Sequence[str],
    directions: Array,
    spread: Spread,
    *,
    ridge: float,
    weight: float,
    center: Array | None = None,
    prior: Background = NO_BACKGROUND,
) -> LikenessHead:
    """The head of the classes whose common directions (C, d) a localizer has found.

    A deviation of likeness counts ``weight`` against the prior.
    """
    require_number("ridge", ridge, above=0.0)
    require_number("weight", weight, above=0.0)
    require_shape("directions", directions, (len(classes), len(spread.mean)))
    found = spread.decorrelated(directions, ridge)  # (C, d)
    deviations = np.sqrt(np.einsum("cd,cd->c", found @ spread.covariance, found))  # (C,)
    weights = weight * found / np.maximum(deviations, np.finfo(np.float64).tiny)[:, None]
    return LikenessHead(tuple(classes), weights, weights @ spread.mean, center, prior)


@final
@dataclass(frozen=True, eq=False)
class LikenessLearner:
    """Localizes, then asks how far the direction that was found stands out against base regions."""

    localizer: VmfMil | SceneMil
    spread: Spread
    ridge: float
    weight: float
    prior: Background = NO_BACKGROUND

    def learn(
        self,
        positives: Sequence[ProposalBag],
        negatives: Sequence[ProposalBag],
        rng: np.random.Generator,
        clamps: Clamps = NO_CLAMPS,
    ) -> LikenessDetector:
        """What the positives share and the negatives lack, by what a person knows of the positives."""
        return LikenessDetector(self, self.localizer.learn(positives, negatives, rng, clamps))

    def learn_classes(
        self,
        bags: Sequence[ProposalBag],
        tags: Sequence[Collection[str]],
        classes: Sequence[str],
        rng: np.random.Generator,
    ) -> dict[str, LikenessDetector]:
        """Several classes of the same images, no two of them in the same place."""
        return learn_apart(self, bags, tags, classes, rng)

    def head(self, classes: Sequence[str], directions: Array) -> LikenessHead:
        """The detector of classes with these directions (C, d)."""
        return likeness_head(
            classes,
            directions,
            self.spread,
            ridge=self.ridge,
            weight=self.weight,
            center=self.localizer.center,
            prior=self.prior,
        )


@final
@dataclass(frozen=True, eq=False)
class LikenessDetector:
    """What was learned of one class."""

    learner: LikenessLearner
    solution: Solution[VmfForeground]

    @property
    def localization(self) -> Localization:
        """Where the class was found."""
        return self.solution.localization

    @property
    def direction(self) -> Array:
        """(d,), what the photos share, among centred features."""
        return self.learner.localizer.among_centered(self.solution.foreground.theta[None])[0]

    @cached_property
    def head(self) -> LikenessHead:
        """Of this class alone."""
        return self.learner.head([THE_CLASS], self.direction[None])

    def score(self, bag: ProposalBag) -> Array:
        """(n,) scores (9.6)."""
        return self.head.score(bag)[:, 0]
