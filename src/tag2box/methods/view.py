"""A bag as a model sees it: features from the middle of the base features, and what speaks against each region.

n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tag2box.arrays import Array
from tag2box.rows import Directions, Lens
from tag2box.types import ProposalBag

TUKEY_POWER = 0.5

FeatureMap = Callable[[ProposalBag], Array]
"""(n, d) features of a bag, as a model wants them."""


class View(NamedTuple):
    """What a model needs of a bag, made once for everything that it does with it."""

    directions: Directions
    """(n)"""
    background: Array
    """(n,), weighted log score of the background"""


Viewer = Callable[[ProposalBag], View]
"""How a model sees a bag."""


def center_bag(bag: ProposalBag, mean: Array | None) -> ProposalBag:
    """The bag with centred features (4.1), and their new lengths; ``None`` leaves it as it is."""
    return bag if mean is None else bag.through(Lens(mean))


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
