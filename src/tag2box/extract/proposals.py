"""From what the first graph says at every location to a few hundred candidate boxes.

L = locations, n = boxes
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np

from tag2box.arrays import Float32s, Ints
from tag2box.boxes import Boxes, suppress_overlaps

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


def inside_photo(boxes: Boxes, height: float, width: float) -> Float32s:
    """Boxes cut at the edges of the photo, with sides of a few pixels at least (of the photo, if it is smaller)."""
    limits = np.array([width, height])
    smallest = np.minimum(SMALLEST, limits)
    corner = np.clip(boxes[:, :2], 0.0, limits - smallest)
    far_corner = np.maximum(np.minimum(boxes[:, 2:], limits), corner + smallest)
    return np.concatenate([corner, far_corner], axis=1).astype(np.float32)  # (n, 4)


@cache
def location_centers(side: int) -> Float32s:
    """(L, 2), x and y of every location of a square input."""
    levels = []
    for stride in STRIDES:
        middles = (np.arange(-(-side // stride), dtype=np.float32) + 0.5) * stride
        x, y = np.meshgrid(middles, middles)
        levels.append(np.stack([x.ravel(), y.ravel()], axis=1))
    return np.concatenate(levels)


def best_proposals(
    boxes: Boxes, quality: Float32s, side: int, height: float, width: float, considered: int
) -> tuple[Float32s, Float32s]:
    """What one look proposes, boxes (n, 4) and qualities (n,), best first; only locations on the photo count."""
    rows = np.flatnonzero((location_centers(side) < [width, height]).all(axis=1))
    best = rows[np.argsort(-quality[rows], kind="stable")[:considered]]
    return inside_photo(boxes[best], height, width), quality[best]


def final_rows(boxes: Boxes, first: Float32s, second: Float32s, rules: ProposalRules, count: int) -> Ints:
    """Rows of the regions that stay, best first, by what both stages believe."""
    scores = first.astype(np.float64) * second.astype(np.float64) ** rules.second_weight
    return suppress_overlaps(boxes, scores, rules.final_overlap, count)
