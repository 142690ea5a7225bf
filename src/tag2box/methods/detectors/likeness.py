"""The detector that users get, in closed form: how like a region is to what a class's photos share.

C = classes, n = regions of a bag, k = examples of a class, d = feature dimension. Equations: docs/method.md, section 9.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from tag2box.arrays import Array, evenly, frozen, require_number, require_shape, require_unit_rows
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
from tag2box.rows import Directions, Landmarks, Rows, product
from tag2box.types import ABSENT, Detections, Localization, ProposalBag, require_dimension

THE_CLASS = "the class"
LIKENESS_COUNTS = 2.0
"""How much more than in the score likeness counts against a threshold of its own."""
MOST_EXAMPLES = 16
"""Regions that a class is remembered by: more of them tell little more."""


def margin(score: Array, likeness: Array, sharpness: float) -> Array:
    """The lesser of two margins (9.7), each over its own threshold."""
    return np.minimum(score, LIKENESS_COUNTS * sharpness * likeness)


@final
@dataclass(frozen=True, eq=False)
class LikenessHead:
    """Scores regions for every class by their likeness to it; a class owes nothing to the others."""

    classes: tuple[str, ...]
    directions: Array
    """(C, d), unit rows: what the photos of each class share, in the space of ``seen``"""
    examples: tuple[Rows, ...]
    """(C), each (k, d): the regions in which each class was found, there too"""
    seen: Callable[[ProposalBag], ProposalBag]
    """Puts a bag into the space that likeness is measured in"""
    sharpness: float
    """How much a likeness of 1 counts against the prior"""
    example_share: float
    """How much the likest example counts against the shared direction, between 0 and 1"""
    prior: Background = NO_BACKGROUND
    """What speaks against a region whatever the class, such as a low objectness (9.4)"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "directions", frozen(self.directions, np.float64))
        require_shape("directions of the head", self.directions, (len(self.classes), None))
        require_unit_rows("directions of the head", self.directions)
        require_number("number of lists of examples", len(self.examples), at_least=len(self.classes))
        require_number("sharpness", self.sharpness, above=0.0)
        require_number("share of examples", self.example_share, at_least=0.0)
        if len(set(self.classes)) != len(self.classes):
            raise ShapeError(
                f"a class occurs twice among {', '.join(self.classes)}.", "each class once", "rename one of them."
            )

    def of_class(self, label: str) -> LikenessHead:
        """The head of one class alone."""
        place = self.classes.index(label)
        return replace(self, classes=(label,), directions=self.directions[[place]], examples=(self.examples[place],))

    @cached_property
    def _landmarks(self) -> tuple[Landmarks, ...]:
        once = {id(rows): Landmarks(rows) for rows in self.examples}  # classes may share theirs
        return tuple(once[id(rows)] for rows in self.examples)

    @cached_property
    def _shared(self) -> Landmarks:
        return Landmarks(self.directions)

    @cached_property
    def _all_examples(self) -> Landmarks:
        return Landmarks(np.concatenate([rows for rows in self.examples if len(rows)]))

    def likeness(self, bag: ProposalBag) -> Array:
        """(n, C), how like each region is to each class (9.5): 1 for the thing itself, about 0 for anything else."""
        seen = self.seen(bag)
        require_dimension("detection head", seen, self.directions.shape[1])
        directions = seen.directions
        shared = directions.against(self._shared).astype(np.float64)  # (n, C)
        told = np.flatnonzero([len(rows) for rows in self.examples])  # classes that have examples
        if not len(told) or not self.example_share:
            return shared
        begins = np.cumsum([0, *(len(self.examples[place]) for place in told[:-1])])
        likest = np.maximum.reduceat(directions.against(self._all_examples), begins, axis=1)  # (n, told)
        shared[:, told] *= 1.0 - self.example_share
        shared[:, told] += self.example_share * likest
        return shared

    def likeness_of(self, place: int, bag: ProposalBag) -> Array:
        """(n,) likeness to one class, by its place."""
        return self._likeness_to(place, self.seen(bag).directions)

    def likeness_to_examples(self, place: int, bag: ProposalBag, row: int) -> Array:
        """(k,), how like one region is to each example of a class."""
        (region,) = self.seen(bag).directions.at([row])
        return product(self.examples[place], region).astype(np.float64)

    def _likeness_to(self, place: int, directions: Directions) -> Array:
        shared = directions.along(self.directions[place])  # (n,)
        examples = self._landmarks[place]
        if not len(examples) or not self.example_share:
            return shared
        likest = directions.against(examples).max(axis=1).astype(np.float64)  # (n,)
        return (1.0 - self.example_share) * shared + self.example_share * likest

    def score(self, bag: ProposalBag) -> Array:
        """(n, C) scores, (9.6), less what the prior says against each region (9.4)."""
        return self.scored(bag, self.likeness(bag))

    def scored(self, bag: ProposalBag, likeness: Array) -> Array:
        """Scores of regions with a likeness (n,) or (n, C)."""
        against = self.prior.log_score(bag)  # (n,)
        return self.sharpness * likeness - (against[:, None] if likeness.ndim > 1 else against)

    def margins(self, bag: ProposalBag, thresholds: Array, least_likenesses: Array) -> Array:
        """(n, C), how far regions are above both thresholds of each class (9.7)."""
        likeness = self.likeness(bag)
        return margin(self.scored(bag, likeness) - thresholds, likeness - least_likenesses, self.sharpness)

    def detect(
        self, bag: ProposalBag, *, max_overlap: float = MAX_OVERLAP, max_detections: int = MAX_DETECTIONS
    ) -> Detections:
        """The best regions for every class, suppressed within each class, ranked together."""
        return ranked_classes(
            bag, self.score(bag), self.classes, max_overlap=max_overlap, max_detections=max_detections
        )


@final
@dataclass(frozen=True, eq=False)
class LikenessLearner:
    """Localizes, then asks how like other regions are to what was found."""

    localizer: VmfMil | SceneMil
    sharpness: float
    example_share: float
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

    def learn_ends(
        self,
        positives: Sequence[ProposalBag],
        negatives: Sequence[ProposalBag],
        rng: np.random.Generator,
        clamps: Clamps,
        leads: Sequence[float],
    ) -> list[LikenessDetector]:
        """The same, once for each lead that known regions shall have over wrong ones in their photos."""
        ends = self.localizer.learn_ends(positives, negatives, rng, clamps, leads)
        return [LikenessDetector(self, end) for end in ends]

    def learn_classes(
        self,
        bags: Sequence[ProposalBag],
        tags: Sequence[Collection[str]],
        classes: Sequence[str],
        rng: np.random.Generator,
    ) -> dict[str, LikenessDetector]:
        """Several classes of the same images, no two of them in the same place."""
        return learn_apart(self, bags, tags, classes, rng)

    def head(self, classes: Sequence[str], directions: Array, examples: Sequence[Rows]) -> LikenessHead:
        """The detector of classes with these directions (C, d) and examples, as the localizer sees features."""
        return LikenessHead(
            tuple(classes),
            directions,
            tuple(examples),
            self.localizer.seen,
            self.sharpness,
            self.example_share,
            self.prior,
        )

    def head_of_kept(self, classes: Sequence[str], directions: Array, examples: Sequence[Rows]) -> LikenessHead:
        """The same for what files keep: directions among centred features, and features as bags have them."""
        rows = [self.localizer.seen_rows(each) if len(each) else each for each in examples]
        return self.head(classes, self.localizer.from_centered(directions), rows)


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
    def example_photos(self) -> tuple[int, ...]:
        """Places of the photos whose regions the class is remembered by: all, or some where there are many."""
        shown = np.flatnonzero(self.localization.rows != ABSENT)
        return tuple(shown[evenly(len(shown), MOST_EXAMPLES)].tolist())

    @cached_property
    def examples(self) -> Rows:
        """(k, d), the regions in which it was found in those photos, as the localizer sees features."""
        rows = self.localization.rows
        return np.concatenate([self.solution.views[i].directions.at([rows[i]]) for i in self.example_photos])

    @cached_property
    def head(self) -> LikenessHead:
        """Of this class alone."""
        return self.learner.head([THE_CLASS], self.solution.foreground.theta[None], [self.examples])

    def score(self, bag: ProposalBag) -> Array:
        """(n,) scores (9.6)."""
        return self.head.score(bag)[:, 0]
