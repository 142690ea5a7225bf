"""Fitting the background on regions of base images (docs/method.md, section 5).

n = regions, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array
from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, DatasetImage, Draws
from tag2box.errors import NoImagesOfClassError
from tag2box.methods.localizers import FittedBackground, center_rows
from tag2box.sphere import VmfMixture, fit_vmf, fit_vmf_mixture
from tag2box.store import FeatureStore, require_same

MAX_OVERLAP = 0.3
"""A region that overlaps every base object by less shows background."""

REGIONS_PER_IMAGE = 50
"""More of one image would let busy images speak for all."""


@final
@dataclass(frozen=True, eq=False)
class BackgroundSample:
    """Background regions of clean base images, and the mean of all their regions."""

    features: Array
    """(n, d), unit rows"""
    lengths: Array
    """(n,), what they were before they were scaled to 1"""
    mean: Array
    """(d,)"""
    images: int


def sample_background(
    stores: Sequence[FeatureStore], datasets: Sequence[Dataset], base: Collection[str], seed: int
) -> BackgroundSample:
    """Regions of images that show base objects only: elsewhere an unlabelled novel object could pass for background.

    Each dataset must be labelled with base and novel classes alike, and the stores must be of one extractor. Which
    regions are drawn depends on the seed and the image ids alone.
    """
    for store in stores[1:]:
        require_same(store.folder, store.header, stores[0].header)
    clean = [image for dataset in datasets for image in dataset.showing_only(base).images]
    drawn = [regions for store in stores for regions in _regions(store, clean, seed)]
    if not any(len(regions.features) for regions in drawn):
        raise NoImagesOfClassError(
            f"none of the {sum(map(len, stores))} images in the stores shows base objects only.",
            "images without novel objects, with regions beside the base objects",
            "extract base images into the store, and check that store and annotations belong together.",
        )
    features, lengths = (np.concatenate([getattr(part, name) for part in drawn]) for name in ("features", "lengths"))
    return BackgroundSample(features, lengths, np.mean([part.mean for part in drawn], axis=0), len(drawn))


def fit_background(
    sample: BackgroundSample, fingerprint: str, *, centered: bool, components: int, rng: np.random.Generator
) -> FittedBackground:
    """The paper's single vMF, or a mixture, on features as they are or on centred ones."""
    features = center_rows(sample.features, sample.mean)[0] if centered else sample.features
    if components == 1:
        vmf = fit_vmf(features)
        mixture = VmfMixture(np.ones(1), vmf.mean[None], np.array([vmf.kappa]))
    else:
        mixture = fit_vmf_mixture(features, components, rng).mixture
    center = sample.mean if centered else None
    return FittedBackground(fingerprint, mixture, center, sample.images, len(features))


def _regions(store: FeatureStore, images: Sequence[DatasetImage], seed: int) -> Iterator[BackgroundSample]:
    """For each image of the store, some background regions, and the mean feature of all its regions."""
    for image in images:
        if image.image_id not in store:
            continue
        bag = store.bag(image.image_id)
        overlaps = box_overlaps(bag.boxes, image.truth.boxes).max(axis=1, initial=0.0)  # (n,)
        empty = np.flatnonzero(overlaps < MAX_OVERLAP).tolist()
        rows = Draws(seed, image.image_id).sample(empty, min(REGIONS_PER_IMAGE, len(empty)))
        features = bag.features.astype(np.float64)
        yield BackgroundSample(features[rows], bag.norms[rows].astype(np.float64), features.mean(axis=0), 1)
