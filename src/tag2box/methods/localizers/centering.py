"""Directions seen from the middle of the base features instead of from the origin.

n = regions, d = feature dimension
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tag2box.arrays import Array, require_finite, require_shape
from tag2box.types import ProposalBag


def center_rows(rows: Array, mean: Array) -> tuple[Array, Array]:
    """Directions (n, d) and lengths (n,) of ``rows - mean``, (4.1); a row that equals the mean keeps its direction."""
    require_shape("base mean", mean, (rows.shape[1],))
    require_finite("base mean", mean)
    moved = rows - mean  # (n, d)
    lengths = np.linalg.norm(moved, axis=1)  # (n,)
    some = (lengths > 0)[:, None]
    return np.where(some, moved / np.where(some, lengths[:, None], 1.0), rows), lengths


def center_bag(bag: ProposalBag, mean: Array | None) -> ProposalBag:
    """The bag with centred features, and their new lengths; ``None`` leaves it as it is."""
    if mean is None:
        return bag
    directions, lengths = center_rows(bag.features.astype(np.float64), mean)
    return replace(bag, features=directions.astype(np.float32), norms=lengths.astype(np.float32))
