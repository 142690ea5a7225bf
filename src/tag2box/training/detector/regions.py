"""Boxes as tensors: overlaps, corrections, clipping.

n, m = boxes, as x0 y0 x1 y1 in pixels of the network's input
"""

from __future__ import annotations

import torch
from torch import Tensor

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
