"""What the backbone's maps show under boxes, on average, and how a feature tells of a region's core.

n = boxes; C, H, W = channels, rows and columns of a map; d = entries of a feature without the core
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tag2box.arrays import Float32s
from tag2box.boxes import Boxes
from tag2box.extract.proposals import Look, SeenPhoto

BINS = 7
"""A side, into which a box is divided …"""
SAMPLES = 2
"""… and samples a side in each of them."""
MAPS = {3: "fine", 4: "middle", 5: "coarse"}
"""By how often the input was halved: a cell of such a map is 2 to that power pixels wide."""
CORE = 0.55
"""Sides of a region's core, against those of the region: what lies in its middle."""
CORE_SHARE = 0.25
"""How much of a cosine the cores of two regions decide."""


def with_core(features: Float32s, cores: Float32s) -> Float32s:
    """(n, d + C), features (n, d) and what the core of each region shows (n, C), (12.8); lengths stay."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    shares = np.sqrt([1.0 - CORE_SHARE, CORE_SHARE])
    return np.concatenate([shares[0] * features, shares[1] * lengths * _directions(cores)], axis=1, dtype=np.float32)


def core_averages(seen: SeenPhoto, boxes: Boxes, halvings: Sequence[int]) -> Float32s:
    """(n, C), what the cores of boxes (n, 4), in pixels of the first look, show in all looks: a sum of directions."""
    cores = core_of(boxes)
    each = (averages_in_look(look, cores * seen.enlargement(look), halvings) for look in seen.looks)
    return np.sum([_directions(averages) for averages in each], axis=0)


def core_of(boxes: Boxes) -> Float32s:
    """Boxes (n, 4) with the same centres and smaller sides."""
    corner, far_corner = boxes[:, :2], boxes[:, 2:]
    margin = (far_corner - corner) * np.float32((1.0 - CORE) / 2.0)
    return np.concatenate([corner + margin, far_corner - margin], axis=1)


def averages_in_look(look: Look, boxes: Boxes, halvings: Sequence[int]) -> Float32s:
    """(n, C), averages of several maps, side by side, under boxes (n, 4) in pixels of the look."""
    parts = [map_averages(look.maps[MAPS[number]], boxes, 2**number) for number in halvings]
    return np.concatenate(parts, axis=1)


def map_averages(values: Float32s, boxes: Boxes, stride: int) -> Float32s:
    """(n, C), the mean of bilinear samples of a map (C, H, W) under each box (12.5), without the bins."""
    channels, rows, columns = values.shape
    in_y = cell_weights(boxes[:, 1], boxes[:, 3], rows, stride)  # (n, H)
    in_x = cell_weights(boxes[:, 0], boxes[:, 2], columns, stride)  # (n, W)
    by_row = values.transpose(1, 2, 0).reshape(rows, columns * channels)  # (H, W·C)
    strips = (in_y @ by_row).reshape(-1, columns, channels)  # (n, W, C)
    averages: Float32s = (in_x[:, None] @ strips)[:, 0]  # (n, C)
    return averages


def cell_weights(starts: Float32s, ends: Float32s, cells: int, stride: int) -> Float32s:
    """(n, cells), how much each cell along one axis counts for each box; beyond the outermost, those count."""
    places = (np.arange(BINS * SAMPLES, dtype=np.float32) + 0.5) / np.float32(BINS * SAMPLES)
    positions = (starts[:, None] + (ends - starts)[:, None] * places) / np.float32(stride) - np.float32(0.5)
    positions = np.clip(positions, 0, cells - 1)  # (n, samples), in cells
    distances = np.abs(positions[:, :, None] - np.arange(cells, dtype=np.float32))
    return np.maximum(1 - distances, 0).mean(axis=1)


def _directions(rows: Float32s) -> Float32s:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
