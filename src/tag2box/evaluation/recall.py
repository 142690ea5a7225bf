"""How many objects the regions of an extractor cover, and how many regions that takes.

n = regions, t = objects
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tag2box.arrays import Array, Bools
from tag2box.boxes import Boxes, box_areas, box_overlaps
from tag2box.evaluation.matching import MIN_OVERLAP

NEVER = np.inf
"""Rank of an object that no region covers."""

SMALL, LARGE = 32.0**2, 96.0**2
"""COCO's limits of small, medium and large objects, in pixels of area."""


def first_covering(regions: Boxes, objects: Boxes, min_overlap: float = MIN_OVERLAP) -> Array:
    """(t,) for each object, the rank (from 0) of the first region (n, 4), best first, that overlaps it enough."""
    covers = box_overlaps(objects, regions) >= min_overlap  # (t, n)
    if len(regions) == 0:
        return np.full(len(objects), NEVER)
    return np.where(covers.any(axis=1), covers.argmax(axis=1), NEVER)


def recall_at(ranks: Array, counts: Sequence[int]) -> dict[int, float]:
    """Share of the objects that the first so many regions cover; without objects, NaN."""
    return {count: float(np.mean(ranks < count)) if len(ranks) else float("nan") for count in counts}


def size_groups(objects: Boxes) -> dict[str, Bools]:
    """Which objects are small, medium and large: three masks (t,)."""
    areas = box_areas(objects)
    return {"small": areas < SMALL, "medium": (areas >= SMALL) & (areas < LARGE), "large": areas >= LARGE}
