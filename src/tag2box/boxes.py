"""Geometry of boxes.

Boxes are (n, 4) rows x0 y0 x1 y1 in pixels, upper edge exclusive: the width is x1 - x0.
"""

from __future__ import annotations

import cmath
from collections.abc import Iterable
from math import ceil, floor, radians
from typing import Any

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, Bools, Float32s, Ints, require_finite, require_shape
from tag2box.errors import ShapeError

Boxes = npt.NDArray[Any]


def as_boxes(values: npt.ArrayLike) -> Float32s:
    """Float32 boxes; nothing at all is no boxes."""
    boxes = np.asarray(values, dtype=np.float32)
    return boxes if boxes.size else boxes.reshape(0, 4)


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
    return (edges[..., 2] - edges[..., 0]) * (edges[..., 3] - edges[..., 1])


def box_overlaps(first: Boxes, second: Boxes) -> Array:
    """Intersection over union (n, m) of every pair; two boxes without area have overlap 0."""
    return paired_overlaps(first[:, None], second[None])


def box_coverage(first: Boxes, second: Boxes) -> Array:
    """Share (n, m) of each first box that lies inside each second box; a box without area has share 0."""
    return paired_coverage(first[:, None], second[None])


def paired_overlaps(first: Boxes, second: Boxes) -> Array:
    """Intersection over union (n,) of each first box with its own second box."""
    shared = shared_areas(first, second)
    union = box_areas(first) + box_areas(second) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def paired_coverage(first: Boxes, second: Boxes) -> Array:
    """Share (n,) of each first box that lies inside its own second box."""
    shared, areas = shared_areas(first, second), box_areas(first)
    return np.divide(shared, areas, out=np.zeros_like(shared), where=areas > 0)


def shared_areas(first: Boxes, second: Boxes) -> Array:
    """Area of each intersection: (..., 4) boxes on both sides, of shapes that fit each other."""
    return _shared_lengths(first, second, 0) * _shared_lengths(first, second, 1)


def _shared_lengths(first: Boxes, second: Boxes, axis: int) -> Array:
    """How far intersections reach along x (0) or y (1)."""
    (low, high), (other_low, other_high) = (_edges(boxes, axis) for boxes in (first, second))
    shared = np.minimum(high, other_high)
    shared -= np.maximum(low, other_low)
    return np.maximum(shared, 0.0, out=shared)


def _edges(boxes: Boxes, axis: int) -> tuple[Array, Array]:
    low, high = (boxes[..., side].astype(np.float64) for side in (axis, axis + 2))
    return low, high


def edge_distances(boxes: Boxes, box: npt.ArrayLike) -> Array:
    """(n,) how far each box is from one box, by the edge that is farthest."""
    return np.abs(boxes - np.asarray(box)).max(axis=1)


TOGETHER = 32
"""Boxes that are compared with all better ones that stay, and then with each other."""


def suppress_overlaps(boxes: Boxes, scores: Array, max_overlap: float, most: int | None = None) -> Ints:
    """Rows that survive greedy non-maximum suppression, best first, ``most`` at most; ties keep their row order."""
    order = np.argsort(-scores, kind="stable")
    edges, kept = np.ascontiguousarray(boxes[order].astype(np.float64).T), np.empty(0, dtype=np.int64)
    for first in range(0, len(order), TOGETHER):
        if most is not None and len(kept) >= most:
            break
        some = np.arange(first, min(first + TOGETHER, len(order)))
        some = some[~_overlap_more(edges[:, kept], edges[:, some], max_overlap).any(axis=0)]
        stays = np.ones(len(some), dtype=bool)
        for place, beaten in enumerate(_overlap_more(edges[:, some], edges[:, some], max_overlap)):
            if stays[place]:
                stays[place + 1 :] &= ~beaten[place + 1 :]
        kept = np.concatenate([kept, some[stays]])
    return order[kept[:most]]


def _overlap_more(first: Array, second: Array, max_overlap: float) -> Bools:
    """(k, n), whether boxes with edges (4, k) overlap those with edges (4, n) by more."""
    (x0, y0, x1, y1), (left, top, right, bottom) = first[:, :, None], second
    shared = np.maximum(np.minimum(x1, right) - np.maximum(x0, left), 0.0)
    shared *= np.maximum(np.minimum(y1, bottom) - np.maximum(y0, top), 0.0)
    return shared > max_overlap * ((x1 - x0) * (y1 - y0) + (right - left) * (bottom - top) - shared)


Box = tuple[float, float, float, float]
"""One box as numbers, x0 y0 x1 y1. How others write boxes is turned into this and back below, and nowhere else."""

Size = tuple[int, int]
"""Height and width of a picture."""


def box_from_sides(x: float, y: float, width: float, height: float) -> Box:
    """A box from its upper left corner and its sides, as COCO has it."""
    return (x, y, x + width, y + height)


def sides_of_box(box: Box) -> Box:
    """Upper left corner, width and height."""
    x0, y0, x1, y1 = box
    return (x0, y0, x1 - x0, y1 - y0)


def box_from_shares(x: float, y: float, width: float, height: float, size: Size) -> Box:
    """A box from its centre and its sides as shares of the picture, as YOLO has it."""
    down, across = size
    return box_from_sides((x - width / 2) * across, (y - height / 2) * down, width * across, height * down)


def shares_of_box(box: Box, size: Size) -> Box:
    """Centre, width and height as shares of the picture."""
    x0, y0, x1, y1 = box
    down, across = size
    return ((x0 + x1) / 2 / across, (y0 + y1) / 2 / down, (x1 - x0) / across, (y1 - y0) / down)


def box_from_percent(x: float, y: float, width: float, height: float, size: Size) -> Box:
    """A box from its upper left corner and its sides in percent of the picture, as Label Studio has it."""
    down, across = size[0] / 100, size[1] / 100
    return box_from_sides(x * across, y * down, width * across, height * down)


def percent_of_box(box: Box, size: Size) -> Box:
    """Upper left corner, width and height in percent of the picture."""
    x, y, width, height = sides_of_box(box)
    down, across = 100 / size[0], 100 / size[1]
    return (x * across, y * down, width * across, height * down)


def box_from_pixels(x0: float, y0: float, x1: float, y1: float, first_pixel: int) -> Box:
    """A box from its first and last pixels, as PASCAL has it; ``first_pixel`` is the number of the picture's first."""
    return (x0 - first_pixel, y0 - first_pixel, x1 - first_pixel + 1.0, y1 - first_pixel + 1.0)


def pixels_of_box(box: Box) -> tuple[int, int, int, int]:
    """The first and last pixels that a box touches, counted from one."""
    return (floor(box[0]) + 1, floor(box[1]) + 1, ceil(box[2]), ceil(box[3]))


def box_around(points: Iterable[tuple[float, float]]) -> Box:
    """The smallest box around points (x, y)."""
    across, down = zip(*points, strict=True)
    return (min(across), min(down), max(across), max(down))


def box_around_turned(box: Box, degrees: float, pivot: tuple[float, float]) -> Box:
    """The smallest box around a box that was turned clockwise about a point."""
    if degrees % 360 == 0:
        return box
    turn = cmath.exp(1j * radians(degrees))
    center = complex(*pivot)
    corners = [center + (complex(x, y) - center) * turn for x in (box[0], box[2]) for y in (box[1], box[3])]
    return box_around((corner.real, corner.imag) for corner in corners)


def clipped_box(box: Box, size: Size) -> Box:
    """The part of a box that lies in the picture; one outside of it loses its area."""
    down, across = float(size[0]), float(size[1])
    x0, x1 = (min(max(x, 0.0), across) for x in (box[0], box[2]))
    y0, y1 = (min(max(y, 0.0), down) for y in (box[1], box[3]))
    return (x0, y0, x1, y1)


def has_area(box: Box) -> bool:
    """Whether there is anything in a box."""
    return box[0] < box[2] and box[1] < box[3]
