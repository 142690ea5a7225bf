"""Fitting how the features of base regions scatter (docs/method.md, section 9).

n = regions, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tag2box.arrays import Array
from tag2box.errors import NoImagesOfClassError
from tag2box.methods.detectors import Spread
from tag2box.methods.localizers import center_bag
from tag2box.store import FeatureStore


def fit_spread(stores: Sequence[FeatureStore], center: Array | None) -> Spread:
    """Mean and covariance of all regions in the stores, on centred features."""
    dimension = stores[0].header.dimension
    regions, total, products = 0, np.zeros(dimension), np.zeros((dimension, dimension))
    for bag in (bag for store in stores for bag in store.scan()):
        features = center_bag(bag, center).features.astype(np.float64)
        regions += len(features)
        total += features.sum(axis=0)
        products += features.T @ features
    if not regions:
        raise NoImagesOfClassError("the stores hold no image.", "base images", "extract base images into the store.")
    mean = total / regions
    return Spread(mean, products / regions - np.outer(mean, mean))
