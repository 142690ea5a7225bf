"""Features as a model wants to see them: functions from a bag to (n, d).

n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tag2box.arrays import Array
from tag2box.errors import ShapeError
from tag2box.types import ProposalBag

FeatureMap = Callable[[ProposalBag], Array]


def unit_features(bag: ProposalBag) -> Array:
    """(n, d) directions. On them a Gaussian with deviation s is a vMF with kappa = |theta| / s^2."""
    return bag.features.astype(np.float64)


def raw_features(bag: ProposalBag) -> Array:
    """(n, d) features at the length they had before normalisation."""
    return bag.features.astype(np.float64) * bag.norms[:, None]


def tukey_features(bag: ProposalBag, power: float = 0.5) -> Array:
    """(n, d) raw features to a power, (7.3)."""
    raw = raw_features(bag)
    if (raw < 0).any():
        raise ShapeError(
            f"image {bag.image_id!r} has negative features (the lowest is {raw.min():g}).",
            "features of at least 0, as after a rectifier",
            "use raw_features: the power transform does not exist for negative values.",
        )
    return raw**power
