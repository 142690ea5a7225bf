"""What a person already knows about some of the photos."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

import numpy as np

from tag2box.arrays import Array
from tag2box.errors import ShapeError


@final
@dataclass(frozen=True)
class Clamps:
    """Photos whose region is known, and photos that are known not to show the object."""

    known: Mapping[int, int] = field(default_factory=dict)
    """Place of the photo in the support set → its row. A box that a person drew is a new row of the bag."""
    absent: frozenset[int] = frozenset()
    """Places of the photos without the object."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", MappingProxyType(dict(self.known)))

    def allowed(self, image: int, regions: int) -> Array:
        """(regions,) log prior of one image: 0 where the object may be, -inf elsewhere."""
        if image in self.absent:
            return np.full(regions, -np.inf)
        if image not in self.known:
            return np.zeros(regions)
        return np.where(np.arange(regions) == self.known[image], 0.0, -np.inf)

    def check(self, lengths: list[int]) -> None:
        """Refuse clamps on photos or rows that do not exist, or that contradict each other."""
        strangers = [image for image in {*self.known, *self.absent} if not 0 <= image < len(lengths)]
        outside = [i for i, row in self.known.items() if i not in strangers and not 0 <= row < lengths[i]]
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
