"""Where things lie in a planted image.

Objects sit in separate cells of a grid, so that no two overlap and every verdict is certain.
"""

from __future__ import annotations

import numpy as np

from tag2box.arrays import Array
from tag2box.boxes import box_overlaps

HEIGHT, WIDTH = 240.0, 320.0
ROWS, COLUMNS = 3, 4
CELLS = ROWS * COLUMNS
WHOLE = np.array([0.0, 0.0, WIDTH, HEIGHT])


def object_boxes(count: int, rng: np.random.Generator) -> Array:
    """(count, 4) boxes, each in a cell of its own."""
    cells = rng.permutation(CELLS)[:count]
    corner = np.stack([cells % COLUMNS * (WIDTH / COLUMNS), cells // COLUMNS * (HEIGHT / ROWS)], axis=1)  # (count, 2)
    sides = rng.uniform(45.0, 75.0, size=(count, 2))
    room = np.array([WIDTH / COLUMNS, HEIGHT / ROWS]) - sides
    low = corner + rng.uniform(size=(count, 2)) * room
    return np.concatenate([low, low + sides], axis=1)


def shifted_boxes(box: Array, count: int, rng: np.random.Generator) -> Array:
    """(count, 4) boxes that overlap ``box`` by more than 0.6: each edge moves by at most 8 % of the side."""
    sides = np.tile(box[2:] - box[:2], 2)
    moved = box + rng.uniform(-0.08, 0.08, size=(count, 4)) * sides
    return np.clip(moved, 0.0, np.tile(WHOLE[2:], 2))


def half_boxes(box: Array, count: int, rng: np.random.Generator) -> Array:
    """(count, 4) halves of ``box``, 45 % of its width or height: overlap 0.45."""
    halves = np.tile(box, (count, 1))
    axes, ends = rng.integers(2, size=count), rng.integers(2, size=count)
    for row, (axis, end) in enumerate(zip(axes, ends, strict=True)):
        side = 0.45 * (box[2 + axis] - box[axis])
        if end:
            halves[row, axis] = box[2 + axis] - side
        else:
            halves[row, 2 + axis] = box[axis] + side
    return halves


def empty_boxes(objects: Array, count: int, rng: np.random.Generator) -> Array:
    """(count, 4) boxes that overlap every object by less than 0.3."""
    boxes = np.empty((0, 4))
    while len(boxes) < count:
        sides = rng.uniform(20.0, 150.0, size=(2 * count, 2))
        low = rng.uniform(size=(2 * count, 2)) * (WHOLE[2:] - sides)
        tried = np.concatenate([low, low + sides], axis=1)
        boxes = np.concatenate([boxes, tried[box_overlaps(tried, objects).max(axis=1, initial=0.0) < 0.3]])
    return boxes[:count]
