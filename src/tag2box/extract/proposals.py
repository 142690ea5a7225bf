"""From what a network says at every location of a photo, seen at several sizes, to a few hundred boxes.

From closer, small things are found, and from afar, large ones.

L = locations of a look, n = boxes; those of all looks together are in pixels of the first look
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Float32s, Ints
from tag2box.boxes import Boxes, Size, as_boxes, require_boxes, suppress_overlaps
from tag2box.extract.photos import Photo

STRIDES = (8, 16, 32, 64)
"""Pixels between two locations, by level: the first graph says one box at each, level by level, row by row."""

SMALLEST = 4.0
"""Sides of a region, in pixels of the network's input."""


@final
@dataclass(frozen=True)
class ProposalRules:
    """How often a photo is looked at, how many boxes are kept at each stage, and how much they may overlap."""

    looks: tuple[float, ...] = (1.0, 1.6, 2 / 3)
    """How large the photo is in each look, against the size that the network learned with; regions are described as
    the first one shows them"""
    considered: int = 1500
    """Locations of a look with the best first-stage quality"""
    first_overlap: float = 0.65
    corrected: int = 500
    """Boxes that the second stage corrects"""
    final_overlap: float = 0.65
    second_weight: float = 0.3
    """How much the second stage's quality counts in a region's rank, against the first's"""


@final
@dataclass(frozen=True, eq=False)
class Look:
    """What the first graph says of a photo at one size, in pixels of that size."""

    canvas: Size
    """Height and width of what the network saw"""
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


def inside_photo(boxes: Boxes, height: float, width: float) -> Float32s:
    """Boxes cut at the edges of the photo, with sides of a few pixels at least (of the photo, if it is smaller)."""
    limits = np.array([width, height])
    smallest = np.minimum(SMALLEST, limits)
    corner = np.clip(boxes[:, :2], 0.0, limits - smallest)
    far_corner = np.maximum(np.minimum(boxes[:, 2:], limits), corner + smallest)
    return np.concatenate([corner, far_corner], axis=1).astype(np.float32)  # (n, 4)


@cache
def location_centers(canvas: Size) -> Float32s:
    """(L, 2), x and y of every location of an input."""
    levels = []
    for stride in STRIDES:
        down, across = ((np.arange(-(-side // stride), dtype=np.float32) + 0.5) * stride for side in canvas)
        x, y = np.meshgrid(across, down)
        levels.append(np.stack([x.ravel(), y.ravel()], axis=1))
    return np.concatenate(levels)


def best_proposals(
    boxes: Boxes, quality: Float32s, canvas: Size, height: float, width: float, considered: int
) -> tuple[Float32s, Float32s]:
    """What one look proposes, boxes (n, 4) and qualities (n,), best first; only locations on the photo count."""
    rows = np.flatnonzero((location_centers(canvas) < [width, height]).all(axis=1))
    best = rows[np.argsort(-quality[rows], kind="stable")[:considered]]
    return inside_photo(boxes[best], height, width), quality[best]


def first_proposals(seen: SeenPhoto, rules: ProposalRules) -> Proposals:
    """The boxes for the second stage, thinned out over all looks together, best first."""
    parts = []
    for number, look in enumerate(seen.looks):
        boxes, quality = best_proposals(
            look.boxes, look.quality, look.canvas, look.height, look.width, rules.considered
        )
        parts.append((boxes / seen.enlargement(look), quality, np.full(len(boxes), number)))
    boxes, quality, look_of = (np.concatenate(each) for each in zip(*parts, strict=True))
    kept = suppress_overlaps(boxes, quality.astype(np.float64), rules.first_overlap, rules.corrected)
    return Proposals(boxes[kept], quality[kept], look_of[kept])


def final_rows(boxes: Boxes, first: Float32s, second: Float32s, rules: ProposalRules, count: int) -> Ints:
    """Rows of the regions that stay, best first, by what both stages believe."""
    scores = first.astype(np.float64) * second.astype(np.float64) ** rules.second_weight
    return suppress_overlaps(boxes, scores, rules.final_overlap, count)


def whole_look(seen: SeenPhoto) -> Float32s:
    """(1, 4), the whole photo, in pixels of the first look."""
    return np.array([[0, 0, seen.first.width, seen.first.height]], dtype=np.float32)


def in_first_look(seen: SeenPhoto, boxes: npt.ArrayLike) -> Float32s:
    """Boxes (n, 4) of the full photo, in pixels of the first look."""
    rows = as_boxes(boxes)
    require_boxes("boxes to describe", rows)
    return inside_photo(rows / seen.scale, seen.first.height, seen.first.width)


def _ratio(of: Photo | Look, to: Look) -> Float32s:
    return np.array([of.width / to.width, of.height / to.height] * 2, dtype=np.float32)
