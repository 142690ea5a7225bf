"""Geometry of boxes.

Boxes are (n, 4) rows x0 y0 x1 y1 in pixels, upper edge exclusive: the width is x1 - x0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, Ints, require_finite, require_shape
from tag2box.errors import ShapeError

Boxes = npt.NDArray[Any]


def require_boxes(name: str, boxes: Boxes) -> None:
    """Refuse anything but finite (n, 4) rows with x0 <= x1 and y0 <= y1."""
    require_shape(name, boxes, (None, 4))
    require_finite(name, boxes)
    turned = (boxes[:, 2:] < boxes[:, :2]).any(axis=1)
    if turned.any():
        row = int(np.argmax(turned))
        raise ShapeError(
            f"{name}: box {row} is {boxes[row].tolist()}, its right or lower edge comes before its left or upper one.",
            "x0 y0 x1 y1 with x0 <= x1 and y0 <= y1",
            "if the boxes are x, y, width, height, add x and y to the last two columns.",
        )


def box_areas(boxes: Boxes) -> Array:
    """Area of each box (n,)."""
    edges = boxes.astype(np.float64)
    return (edges[:, 2] - edges[:, 0]) * (edges[:, 3] - edges[:, 1])


def box_overlaps(first: Boxes, second: Boxes) -> Array:
    """Intersection over union (n, m) of every pair; two boxes without area have overlap 0."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    low = np.maximum(a[:, None, :2], b[None, :, :2])  # (n, m, 2)
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])  # (n, m, 2)
    shared = np.clip(high - low, 0.0, None).prod(axis=2)  # (n, m)
    union = box_areas(a)[:, None] + box_areas(b)[None, :] - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def suppress_overlaps(boxes: Boxes, scores: Array, max_overlap: float) -> Ints:
    """Rows that survive greedy non-maximum suppression, best first; equal scores keep their row order."""
    waiting = np.argsort(-scores, kind="stable")
    kept = []
    while waiting.size:
        best, rest = waiting[0], waiting[1:]
        kept.append(best)
        overlaps = box_overlaps(boxes[best : best + 1], boxes[rest])[0]
        waiting = rest[overlaps <= max_overlap]
    return np.array(kept, dtype=np.int64)
