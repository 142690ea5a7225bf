"""RoIAlign as two matrix products.

The bilinear weight of a cell is a product of two triangles, one in y and one in x; so the average over the samples of
a bin is, for each region, (bins × rows) · map · (columns × bins), (12.5). That is exact, differentiable, needs no
compiled operator, and runs at the speed of matrix products.

n = regions, all of one image; b = bins a side; C, H, W = channels, rows and columns of the map
"""

from __future__ import annotations

import torch
from torch import Tensor

SAMPLES = 2
"""Samples a side in each bin."""


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
