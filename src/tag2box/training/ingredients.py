"""Fitting everything that the lineup's methods know of base regions (docs/method.md, sections 5, 7 and 13).

n = regions, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from tag2box.arrays import Array
from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, Draws
from tag2box.errors import NoImagesOfClassError
from tag2box.methods.lineup import Ingredients
from tag2box.methods.localizers import (
    GaussianBackground,
    VmfBackground,
    center_rows,
    fit_gaussian_background,
    raw_features,
    tukey_features,
)
from tag2box.methods.localizers.features import TUKEY_POWER, signed_power
from tag2box.methods.rivals import AppearanceObjectness
from tag2box.sphere import fit_vmf
from tag2box.store import FeatureStore
from tag2box.training.background import BackgroundSample, sample_background
from tag2box.training.logistic import balanced, fit_logistic
from tag2box.training.objectness import IS_OBJECT
from tag2box.training.spread import fit_spread

OBJECTS_PER_IMAGE = 10


def fit_ingredients(
    store: FeatureStore, datasets: Sequence[Dataset], base: Collection[str], seed: int = 0
) -> Ingredients:
    """All of it, from the base images in ``store``; background comes from those that show base objects only."""
    beside = sample_background([store], datasets, base, seed)
    on = _object_features(store, datasets, base, seed)
    is_object = np.repeat([True, False], [len(on), len(beside.features)])
    logistic = fit_logistic(np.concatenate([on, beside.features]), is_object, balanced(is_object))
    return Ingredients(
        store.header.fingerprint,
        beside.mean,
        VmfBackground(fit_vmf(center_rows(beside.features, beside.mean)[0])),
        *_gaussians(beside),
        AppearanceObjectness(np.array(logistic[:-1]), logistic[-1]),
        fit_spread([store], beside.mean),
    )


def _gaussians(beside: BackgroundSample) -> tuple[GaussianBackground, GaussianBackground]:
    """On features at their own length, and on their roots."""
    raw = beside.features * beside.lengths[:, None]  # (n, d)
    roots = signed_power(raw, TUKEY_POWER)
    return fit_gaussian_background(raw, raw_features), fit_gaussian_background(roots, tukey_features)


def _object_features(store: FeatureStore, datasets: Sequence[Dataset], base: Collection[str], seed: int) -> Array:
    """(n, d) features of some regions on base objects of each image."""
    drawn = [features for dataset in datasets for features in _on_objects(store, dataset.only(base), seed)]
    if not drawn:
        raise NoImagesOfClassError(
            f"no region of the {len(store)} images in {store.folder} is on a base object.",
            "base images with their boxes",
            "check that store and annotations belong together.",
        )
    return np.concatenate(drawn)


def _on_objects(store: FeatureStore, dataset: Dataset, seed: int) -> Iterator[Array]:
    for image in dataset.images:
        if image.image_id not in store or not image.tags:
            continue
        bag = store.bag(image.image_id)
        covered = box_overlaps(bag.boxes, image.truth.boxes).max(axis=1) >= IS_OBJECT  # (n,)
        rows = np.flatnonzero(covered).tolist()
        chosen = Draws(seed, "objects", image.image_id).sample(rows, min(OBJECTS_PER_IMAGE, len(rows)))
        yield bag.features[chosen].astype(np.float64)
