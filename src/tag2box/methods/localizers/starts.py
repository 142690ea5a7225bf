"""What is known before EM begins: what a person says of some photos, and where to start.

A start is a function from the stacked bags to one or more vectors (S, d).

M = images, R = regions of all images, d = feature dimension, S = starts
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, Bools, require_shape
from tag2box.errors import ShapeError
from tag2box.methods.localizers.stack import BagStack
from tag2box.types import WHOLE_IMAGE

Start = Callable[[BagStack, np.random.Generator], Array]
SAME_PLACE = 0.5
"""Regions that overlap a known one by so much are where it is, and not wrong."""


@final
@dataclass(frozen=True)
class Clamps:
    """Photos whose region is known, and photos that are known not to show the object."""

    known: Mapping[int, int] = field(default_factory=dict)
    """Place of the photo in the support set → its row. A box that a person drew is a new row of the bag."""
    absent: frozenset[int] = frozenset()
    """Places of the photos without the object."""
    taken: Mapping[int, Bools] = field(default_factory=dict)
    """Place of the photo → (regions,), rows that show something else, which has a name of its own"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", MappingProxyType(dict(self.known)))

    def allowed(self, image: int, regions: int) -> Array:
        """(regions,) log prior of one image: 0 where the object may be, -inf elsewhere."""
        if image in self.absent:
            return np.full(regions, -np.inf)
        if image in self.known:
            return np.where(np.arange(regions) == self.known[image], 0.0, -np.inf)
        return self.free(image, regions)

    def free(self, image: int, regions: int) -> Array:
        """(regions,) 0 where nothing else is known to be, -inf elsewhere; 0 everywhere if no place is left."""
        taken = self.taken.get(image)
        return np.zeros(regions) if taken is None or taken.all() else np.where(taken, -np.inf, 0.0)

    def check(self, lengths: list[int]) -> None:
        """Refuse clamps on photos or rows that do not exist, or that contradict each other."""
        strangers = [image for image in {*self.known, *self.absent, *self.taken} if not 0 <= image < len(lengths)]
        outside = [i for i, row in self.known.items() if i not in strangers and not 0 <= row < lengths[i]]
        outside += [i for i, rows in self.taken.items() if i not in strangers and len(rows) != lengths[i]]
        both = sorted(self.absent & set(self.known))
        for images, complaint in (
            (strangers, "do not exist"),
            (outside, "have no such row"),
            (both, "are known and absent at once"),
        ):
            if images:
                raise ShapeError(
                    f"clamps name the photos {sorted(images)}, which {complaint}.",
                    f"photos 0 to {len(lengths) - 1}, each known or absent, with a row of its own bag",
                    "count photos and rows from 0; row 0 is the whole image.",
                )


NO_CLAMPS = Clamps()


def whole_images(bags: BagStack, rng: np.random.Generator) -> Array:
    """Mean of the features of the whole images, (6.5): the paper's prototypical start."""
    return bags.mean_of((image, WHOLE_IMAGE) for image in bags.present)[None]  # (1, d)


def random_regions(bags: BagStack, rng: np.random.Generator) -> Array:
    """Mean of one random region of each image: ablation #4."""
    lengths = np.diff(bags.offsets)[bags.present]
    return bags.mean_of(zip(bags.present, rng.integers(0, lengths), strict=True))[None]  # (1, d)


def known_regions(bags: BagStack, clamps: Clamps) -> Array:
    """Mean of the regions that a person has pointed at: the way out of a trap."""
    return bags.mean_of(clamps.known.items())[None]  # (1, d)


def background_only(bags: BagStack, rng: np.random.Generator) -> Array:
    """The zero vector: the first weights come from the background alone, ablation #2."""
    return np.zeros((1, bags.dimension))


def given(directions: npt.ArrayLike) -> Start:
    """Start at the given directions (d,) or (S, d); EM runs from each and keeps the likeliest end."""
    rows = np.atleast_2d(np.asarray(directions, dtype=np.float64))  # (S, d)

    def start(bags: BagStack, rng: np.random.Generator) -> Array:
        require_shape("given directions", rows, (None, bags.dimension))
        return rows

    return start
