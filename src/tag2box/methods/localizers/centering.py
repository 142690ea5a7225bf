"""Directions seen from the middle of the base features instead of from the origin.

n = regions, d = feature dimension
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tag2box.arrays import Array, require_shape
from tag2box.types import ProposalBag


def center_rows(rows: Array, mean: Array) -> Array:
    """Unit rows of ``rows - mean``, (4.1); a row that equals the mean keeps its own direction."""
    moved = rows - mean  # (n, d)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)  # (n, 1)
    return np.where(lengths > 0, moved / np.where(lengths > 0, lengths, 1.0), rows)


def center_bag(bag: ProposalBag, mean: Array | None) -> ProposalBag:
    """The bag with centred features; ``None`` leaves it as it is."""
    if mean is None:
        return bag
    require_shape("base mean", mean, (bag.dimension,))
    return replace(bag, features=center_rows(bag.features.astype(np.float64), mean).astype(np.float32))
