"""What the photos at hand say about background, without any base class: docs/method.md, (5.7), (5.10) and (5.11).

n = regions of a bag, r = rows that are compared with, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self, final
from weakref import WeakKeyDictionary

import numpy as np

from tag2box.arrays import Array, Bools, Float32s, Strings, evenly, frozen, require_number, require_shape
from tag2box.boxes import box_areas, shared_areas
from tag2box.rows import Landmarks, product
from tag2box.types import ProposalBag, require_dimension

HARDLY_TOUCHES = 0.3
"""Regions of which the smaller lies in the other by less are beside each other."""
SAME_PLACE = 0.5
"""Regions that overlap by more are one place."""
FEWEST_PLACES = 3.0
"""With fewer beside it, a region cannot be called common or rare."""
HARDLY_ALIKE = 1e-6
"""Likeness to rivals that counts for nothing."""
TINY = 1e-12
MOST_PHOTOS, MOST_REGIONS = 16, 64
"""Of a class, and of each of these photos, that tell what all photos show."""


@final
@dataclass(frozen=True)
class CommonBackground:
    """What is common in its own photo (5.7): a floor, grass or sky is like many places beside it, a thing is not.

    It needs neither base classes nor tags. A region with hardly anything beside it, such as the whole photo, cannot be
    judged so, and counts as the most common.
    """

    narrowness: float = 8.0
    """Of the kernel that says how alike two places are"""
    _scored: WeakKeyDictionary[ProposalBag, Array] = field(default_factory=WeakKeyDictionary, repr=False, compare=False)
    """What was worked out, for as long as somebody holds the bag that it is of"""

    def __post_init__(self) -> None:
        require_number("narrowness", self.narrowness, above=0.0)

    def log_score(self, bag: ProposalBag) -> Array:
        """Log of the mean likeness to places beside the region, in deviations within the photo."""
        if bag not in self._scored:
            self._scored[bag] = self._worked_out(bag)
        return self._scored[bag]

    def _worked_out(self, bag: ProposalBag) -> Array:
        beside, once = _places(bag)
        places = beside @ once  # (n,)
        alike = product(beside * self._likeness(bag), once.astype(np.float32)).astype(np.float64)  # (n,)
        common = np.log(np.maximum(alike, TINY)) - np.log(np.maximum(places, TINY))
        return _in_deviations(common, places >= FEWEST_PLACES)

    def _likeness(self, bag: ProposalBag) -> Float32s:
        """(n, n), how alike each two regions are."""
        features = bag.features
        likeness = product(features, features.T)
        likeness -= 1.0
        likeness *= self.narrowness
        return np.exp(likeness, out=likeness)


class _Places(NamedTuple):
    """Where the regions of a bag are to each other."""

    beside: Bools
    """(n, n), whether two are beside each other"""
    once: Array
    """(n,), one over the number of regions that are in the same place"""


_ONCE: WeakKeyDictionary[ProposalBag, Array] = WeakKeyDictionary()
"""What was worked out, for as long as somebody holds the bag that it is of."""


def _places(bag: ProposalBag) -> _Places:
    areas, shared = box_areas(bag.boxes), shared_areas(bag.boxes[:, None], bag.boxes[None])  # (n,), (n, n)
    smaller = np.minimum(areas[:, None], areas)  # (n, n)
    beside = (shared < HARDLY_TOUCHES * smaller) | (smaller == 0)
    same_place = shared > SAME_PLACE * (areas[:, None] + areas - shared)
    _ONCE[bag] = 1.0 / np.maximum(same_place.sum(axis=1), 1)
    return _Places(beside, _ONCE[bag])


def _each_place_once(bag: ProposalBag) -> Array:
    """(n,), one over the number of regions that are in the same place."""
    return _ONCE[bag] if bag in _ONCE else _places(bag).once


COMMON = CommonBackground()
"""As users get it."""


def _in_deviations(values: Array, judged: Bools) -> Array:
    """Values less their mean, over their deviation, both of those that are judged; the others get the highest."""
    if not judged.any():
        return np.zeros(len(values))
    known = values[judged]
    scaled = (values - known.mean()) / max(float(known.std()), TINY)
    return np.where(judged, scaled, max(float(scaled[judged].max()), 0.0))


@final
@dataclass(frozen=True, eq=False)
class SharedBackground:
    """What the other photos of a class show all over (5.11): one scene, also the things in it that never move."""

    rows: Landmarks
    """(r), regions of all photos, as EM sees features"""
    weights: Array
    """(r,), so that every photo counts alike, and each place in it once"""
    photos: Strings
    """(r,), which photo each is of"""
    narrowness: float = 8.0
    """Of the kernel that says how alike two places are"""
    _scored: WeakKeyDictionary[ProposalBag, Array] = field(default_factory=WeakKeyDictionary, repr=False)
    """What was worked out, for as long as somebody holds the bag that it is of"""

    @classmethod
    def of(cls, bags: Sequence[ProposalBag]) -> Self:
        """What the photos of a class say, or some of them where there are many."""
        chosen = [bags[place] for place in evenly(len(bags), MOST_PHOTOS)]
        rows = [evenly(len(bag), MOST_REGIONS) for bag in chosen]
        weights = [_each_place_once(bag)[some] for bag, some in zip(chosen, rows, strict=True)]
        return cls(
            Landmarks(np.concatenate([bag.directions.at(some) for bag, some in zip(chosen, rows, strict=True)])),
            np.concatenate([values / values.sum() for values in weights]),
            np.repeat(np.array([bag.image_id for bag in chosen]), [len(some) for some in rows]),
        )

    def log_score(self, bag: ProposalBag) -> Array:
        """Log of the mean likeness to regions of the other photos, in deviations within the photo."""
        require_dimension("scene", bag, self.rows.directions.shape[1])
        if bag not in self._scored:
            self._scored[bag] = self._worked_out(bag)
        return self._scored[bag]

    def _worked_out(self, bag: ProposalBag) -> Array:
        others = self.weights * (self.photos != bag.image_id)  # (r,)
        if not others.any():
            return np.zeros(len(bag))
        likeness = bag.directions.against(self.rows)  # (n, r)
        likeness -= 1.0
        likeness *= self.narrowness
        np.exp(likeness, out=likeness)
        shared = product(likeness, (others / others.sum()).astype(likeness.dtype)).astype(np.float64)  # (n,)
        shared = np.log(np.maximum(shared, TINY))
        return _in_deviations(shared, np.ones(len(bag), dtype=np.bool_))


@final
@dataclass(frozen=True, eq=False)
class RivalBackground:
    """What is like the best that photos without the thing have to offer (5.10): they teach what it is not."""

    rivals: Array
    """(r, d), unit rows, as EM sees features"""
    narrowness: float = 32.0
    """Of the kernel that says how alike a region and a rival are"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rivals", frozen(self.rivals, np.float64))
        require_shape("rivals", self.rivals, (None, None))
        require_number("the number of rivals", len(self.rivals), at_least=1)
        require_number("narrowness", self.narrowness, above=0.0)

    @cached_property
    def _landmarks(self) -> Landmarks:
        return Landmarks(self.rivals)

    def log_score(self, bag: ProposalBag) -> Array:
        """Log of the mean likeness to the rivals."""
        require_dimension("background of rivals", bag, self.rivals.shape[1])
        cosines = bag.directions.against(self._landmarks).astype(np.float64)  # (n, r)
        return np.log(np.exp(self.narrowness * (cosines - 1.0)).mean(axis=1) + HARDLY_ALIKE)
