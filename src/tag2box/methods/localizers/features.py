"""Features as a model wants to see them: functions from a bag to (n, d).

n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tag2box.arrays import Array
from tag2box.types import ProposalBag

TUKEY_POWER = 0.5

FeatureMap = Callable[[ProposalBag], Array]


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
