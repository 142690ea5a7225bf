"""A bag as a model sees it: features from the middle of the base features, and what speaks against each region.

n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, require_finite, require_shape
from tag2box.types import ProposalBag

TUKEY_POWER = 0.5

Rows = npt.NDArray[Any]
"""(n, d) in float32, which is what a store gives, or float64."""

FeatureMap = Callable[[ProposalBag], Array]
"""(n, d) features of a bag, as a model wants them."""


class View(NamedTuple):
    """What a model needs of a bag, made once for everything that it does with it."""

    features: Rows
    """(n, d)"""
    background: Array
    """(n,), weighted log score of the background"""


Viewer = Callable[[ProposalBag], View]
"""How a model sees a bag."""


def center_rows(rows: Rows, mean: Array) -> tuple[Rows, Rows]:
    """Directions (n, d) and lengths (n,) of ``rows - mean``, (4.1); a row that equals the mean keeps its direction."""
    require_shape("base mean", mean, (rows.shape[1],))
    require_finite("base mean", mean)
    moved = rows - mean.astype(rows.dtype)  # (n, d)
    lengths = np.sqrt(np.einsum("nd,nd->n", moved, moved))  # (n,)
    return unit_rows(moved, rows, lengths), lengths


def unit_rows(rows: Rows, otherwise: Rows, lengths: Rows | None = None) -> Rows:
    """The rows (n, d), scaled in place to length 1; one without a length is replaced by that of ``otherwise``."""
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows)) if lengths is None else lengths
    nothing = lengths == 0
    rows /= np.where(nothing, 1.0, lengths).astype(rows.dtype)[:, None]
    rows[nothing] = otherwise[nothing]
    return rows


def center_bag(bag: ProposalBag, mean: Array | None) -> ProposalBag:
    """The bag with centred features, and their new lengths; ``None`` leaves it as it is."""
    if mean is None:
        return bag
    directions, lengths = center_rows(bag.features, mean)
    return bag.with_features(directions, lengths)


def unit_features(bag: ProposalBag) -> Array:
    """(n, d) directions. On them a Gaussian with deviation s is a vMF with kappa = |theta| / s^2."""
    return bag.features.astype(np.float64)


def raw_features(bag: ProposalBag) -> Array:
    """(n, d) features at the length they had before normalisation."""
    return bag.features.astype(np.float64) * bag.norms[:, None]


def tukey_features(bag: ProposalBag, power: float = TUKEY_POWER) -> Array:
    """(n, d) raw features to a power, (7.3)."""
    return signed_power(raw_features(bag), power)


def signed_power(raw: Array, power: float) -> Array:
    """Each value to a power; of a negative one the size is, and the sign stays."""
    return np.sign(raw) * np.abs(raw) ** power
