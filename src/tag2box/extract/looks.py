"""A photo seen at several sizes: from closer, small things are found, and from afar, large ones.

n = boxes of all looks together, always in pixels of the first look
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Float32s, Ints
from tag2box.boxes import suppress_overlaps
from tag2box.extract.photos import Photo
from tag2box.extract.proposals import ProposalRules, best_proposals


@final
@dataclass(frozen=True, eq=False)
class Look:
    """What the first graph says of a photo at one size, in pixels of that size."""

    side: int
    """Of the square canvas"""
    height: int
    width: int
    """Of the photo on it"""
    boxes: Float32s
    """Proposed at each location"""
    quality: Float32s
    maps: dict[str, Float32s]


@final
@dataclass(frozen=True, eq=False)
class SeenPhoto:
    """A photo after the first graph: everything that the second one needs, for any boxes."""

    photo: Photo
    looks: tuple[Look, ...]

    @property
    def first(self) -> Look:
        """The look in whose pixels regions are given, and from whose maps they are described."""
        return self.looks[0]

    @property
    def scale(self) -> Float32s:
        """(4,), pixels of the photo for each pixel of the first look, along x, y, x, y."""
        return _ratio(self.photo, self.first)

    def enlargement(self, look: Look) -> Float32s:
        """(4,), pixels of ``look`` for each pixel of the first, along x, y, x, y."""
        return _ratio(look, self.first)


@final
@dataclass(frozen=True, eq=False)
class Proposals:
    """What the first stage proposes in all looks."""

    boxes: Float32s
    """(n, 4)"""
    quality: Float32s
    """(n,)"""
    look: Ints
    """(n,), the look that each comes from"""


def first_proposals(seen: SeenPhoto, rules: ProposalRules) -> Proposals:
    """The boxes for the second stage, thinned out over all looks together, best first."""
    parts = []
    for number, look in enumerate(seen.looks):
        boxes, quality = best_proposals(look.boxes, look.quality, look.side, look.height, look.width, rules.considered)
        parts.append((boxes / seen.enlargement(look), quality, np.full(len(boxes), number)))
    boxes, quality, look_of = (np.concatenate(each) for each in zip(*parts, strict=True))
    kept = suppress_overlaps(boxes, quality.astype(np.float64), rules.first_overlap, rules.corrected)
    return Proposals(boxes[kept], quality[kept], look_of[kept])


def _ratio(of: Photo | Look, to: Look) -> Float32s:
    return np.array([of.width / to.width, of.height / to.height] * 2, dtype=np.float32)
