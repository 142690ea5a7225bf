"""From what the first graph says at every location to a few hundred candidate boxes.

L = locations, n = boxes
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Self, final

import numpy as np

from tag2box.arrays import Float32s, Ints
from tag2box.boxes import Boxes, box_areas, suppress_overlaps

STRIDES = (8, 16, 32, 64)
"""Pixels between two locations, by level: the first graph says one box at each, level by level, row by row."""

SMALLEST = 4.0
"""Sides of a region, in pixels of the network's input."""


@final
@dataclass(frozen=True)
class ProposalRules:
    """How many boxes are kept at each stage, and how much they may overlap.

    Each level has a quota of its own: most locations are on the finest, whose small boxes would crowd out all others.
    """

    considered: tuple[int, ...] = (2000, 900, 225, 64)
    """Locations of each level with the best first-stage quality"""
    first_overlap: tuple[float, ...] = (0.6, 0.7, 0.8, 0.8)
    corrected: tuple[int, ...] = (400, 150, 80, 30)
    """Boxes of each level that the second stage corrects"""
    final_overlap: float = 0.6
    size_bonus: float = 0.15
    """Power of a region's size in its rank: large objects are fewer, and matter more to people"""

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        """The rules that JSON holds, with lists for tuples."""
        values: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in fields.items()}
        return cls(**values)


def inside_photo(boxes: Boxes, height: float, width: float) -> Float32s:
    """Boxes cut at the edges of the photo, with sides of a few pixels at least (of the photo, if it is smaller)."""
    limits = np.array([width, height])
    smallest = np.minimum(SMALLEST, limits)
    corner = np.clip(boxes[:, :2], 0.0, limits - smallest)
    far_corner = np.maximum(np.minimum(boxes[:, 2:], limits), corner + smallest)
    return np.concatenate([corner, far_corner], axis=1).astype(np.float32)  # (n, 4)


@cache
def location_centers(side: int) -> tuple[Float32s, ...]:
    """(l, 2) for each level, x and y of every location of a square input."""
    levels = []
    for stride in STRIDES:
        middles = (np.arange(-(-side // stride), dtype=np.float32) + 0.5) * stride
        x, y = np.meshgrid(middles, middles)
        levels.append(np.stack([x.ravel(), y.ravel()], axis=1))
    return tuple(levels)


def first_candidates(
    boxes: Boxes, quality: Float32s, side: int, height: float, width: float, rules: ProposalRules
) -> tuple[Float32s, Float32s]:
    """Boxes (n, 4) for the second stage and their qualities (n,), level by level; only locations on the photo count."""
    kept, start = [], 0
    for level, centers in enumerate(location_centers(side)):
        rows = start + np.flatnonzero((centers < [width, height]).all(axis=1))
        best = rows[np.argsort(-quality[rows], kind="stable")[: rules.considered[level]]]
        scores = quality[best].astype(np.float64)
        cut = inside_photo(boxes[best], height, width)
        kept.append(best[suppress_overlaps(cut, scores, rules.first_overlap[level], rules.corrected[level])])
        start += len(centers)
    chosen = np.concatenate(kept)
    return inside_photo(boxes[chosen], height, width), quality[chosen]


def final_rows(boxes: Boxes, first: Float32s, second: Float32s, rules: ProposalRules, count: int) -> Ints:
    """Rows of the regions that stay, best first: by what both stages believe, and a little by size."""
    scores = np.sqrt(first.astype(np.float64) * second) * np.sqrt(box_areas(boxes)) ** rules.size_bonus
    return suppress_overlaps(boxes, scores, rules.final_overlap, count)
