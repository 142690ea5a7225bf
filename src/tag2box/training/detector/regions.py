"""Regions as tensors: overlaps, corrections, clipping; and RoIAlign, what a map shows under them, as matrix products.

The bilinear weight of a cell is a product of two triangles, one in y and one in x; so the average over the samples of
a bin is, for each region, (bins × rows) · map · (columns × bins), (12.5). That is exact, differentiable, needs no
compiled operator, and runs at the speed of matrix products.

n, m = regions, all of one image, as x0 y0 x1 y1 in pixels of the network's input;
b = bins a side; C, H, W = channels, rows and columns of a map
"""

from __future__ import annotations

import torch
from torch import Tensor

from tag2box.extract.averages import SAMPLES

CENTER_CODE, SIZE_CODE = 10.0, 5.0
"""Corrections are of the order of a tenth of a box; these factors bring them to the order of one."""
LARGEST_LOG_GROWTH = 2.0


def areas(boxes: Tensor) -> Tensor:
    """Area of each box."""
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])  # (n,)


def overlaps(boxes: Tensor, others: Tensor) -> Tensor:
    """Intersection over union of every box with every other."""
    corner = torch.maximum(boxes[:, None, :2], others[None, :, :2])
    far_corner = torch.minimum(boxes[:, None, 2:], others[None, :, 2:])
    shared = (far_corner - corner).clamp(min=0).prod(-1)
    return shared / (areas(boxes)[:, None] + areas(others) - shared).clamp(min=1e-9)  # (n, m)


def paired_overlaps(boxes: Tensor, others: Tensor) -> tuple[Tensor, Tensor]:
    """Intersection over union of each box with the other of the same row; and the generalised one.

    That one also counts the emptiness between boxes apart, and so has a slope where the first has none.
    """
    inner = torch.minimum(boxes[:, 2:], others[:, 2:]) - torch.maximum(boxes[:, :2], others[:, :2])
    outer = torch.maximum(boxes[:, 2:], others[:, 2:]) - torch.minimum(boxes[:, :2], others[:, :2])
    shared, hull = inner.clamp(min=0).prod(-1), outer.clamp(min=0).prod(-1)
    union = (areas(boxes) + areas(others) - shared).clamp(min=1e-9)
    overlap = shared / union  # (n,)
    return overlap, overlap - (hull - union) / hull.clamp(min=1e-9)  # (n,), (n,)


def corrections(boxes: Tensor, targets: Tensor) -> Tensor:
    """What to tell the second stage to say, for each box to become its target (12.3)."""
    sizes, wanted = boxes[:, 2:] - boxes[:, :2], targets[:, 2:] - targets[:, :2]
    shift = (targets[:, :2] + targets[:, 2:] - boxes[:, :2] - boxes[:, 2:]) / 2
    return torch.cat([CENTER_CODE * shift / sizes, SIZE_CODE * torch.log(wanted / sizes)], dim=1)  # (n, 4)


def corrected(boxes: Tensor, corrections: Tensor) -> Tensor:
    """Boxes after corrections: the inverse of (12.3)."""
    sizes = boxes[:, 2:] - boxes[:, :2]
    centers = (boxes[:, :2] + boxes[:, 2:]) / 2 + corrections[:, :2] / CENTER_CODE * sizes
    growth = (corrections[:, 2:] / SIZE_CODE).clamp(-LARGEST_LOG_GROWTH, LARGEST_LOG_GROWTH)
    half = sizes * torch.exp(growth) / 2
    return torch.cat([centers - half, centers + half], dim=1)  # (n, 4)


def clipped(boxes: Tensor, height: float, width: float, smallest: float) -> Tensor:
    """Boxes inside the photo, with sides of at least ``smallest`` pixels."""
    limits = boxes.new_tensor([width, height])
    corner = torch.minimum(boxes[..., :2].clamp(min=0), limits - smallest)
    far_corner = torch.maximum(torch.minimum(boxes[..., 2:], limits), corner + smallest)
    return torch.cat([corner, far_corner], dim=-1)  # (n, 4)


def enlarged(boxes: Tensor, factor: float) -> Tensor:
    """Boxes of the same centres, each side so many times as long."""
    centers, half = (boxes[:, :2] + boxes[:, 2:]) / 2, (boxes[:, 2:] - boxes[:, :2]) * (factor / 2)
    return torch.cat([centers - half, centers + half], dim=1)  # (n, 4)


def triangle_weights(starts: Tensor, ends: Tensor, bins: int, cells: int, stride: int) -> Tensor:
    """How much each cell counts for each bin, along one axis.

    Samples stand in the middle of equal parts of ``starts`` … ``ends``; beyond the outermost cells, those count.
    """
    samples = bins * SAMPLES
    places = (torch.arange(samples, dtype=starts.dtype) + 0.5) / samples
    positions = (starts[:, None] + (ends - starts)[:, None] * places) / stride - 0.5  # (n, samples), in cells
    positions = positions.clamp(0.0, cells - 1.0)
    distances = (positions[:, :, None] - torch.arange(cells, dtype=starts.dtype)).abs()
    weights = (1.0 - distances).clamp(min=0.0)  # (n, samples, cells)
    return weights.reshape(-1, bins, SAMPLES, cells).mean(2)  # (n, b, cells)


def roi_align(features: Tensor, boxes: Tensor, bins: int, stride: int) -> Tensor:
    """The map (C, H, W) under each box, averaged in b × b bins."""
    channels, rows, columns = features.shape
    in_y = triangle_weights(boxes[:, 1], boxes[:, 3], bins, rows, stride)  # (n, b, H)
    in_x = triangle_weights(boxes[:, 0], boxes[:, 2], bins, columns, stride)  # (n, b, W)
    by_row = features.permute(1, 2, 0).reshape(rows, columns * channels)  # (H, W·C)
    strips = (in_y.reshape(-1, rows) @ by_row).reshape(-1, bins, columns, channels)  # (n, b, W, C)
    binned = in_x[:, None] @ strips  # (n, b, b, C)
    return binned.permute(0, 3, 1, 2)  # (n, C, b, b)


def roi_average(features: Tensor, boxes: Tensor, stride: int, bins: int) -> Tensor:
    """The average of the map (C, H, W) under each box: that of ``roi_align``, without the bins."""
    channels, rows, columns = features.shape
    in_y = triangle_weights(boxes[:, 1], boxes[:, 3], bins, rows, stride).mean(1)  # (n, H)
    in_x = triangle_weights(boxes[:, 0], boxes[:, 2], bins, columns, stride).mean(1)  # (n, W)
    by_row = features.permute(1, 2, 0).reshape(rows, columns * channels)
    strips = (in_y @ by_row).reshape(-1, columns, channels)  # (n, W, C)
    return (in_x[:, None] @ strips)[:, 0]  # (n, C)
