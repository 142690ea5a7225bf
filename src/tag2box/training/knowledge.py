"""Fitting everything that methods know of base regions (docs/method.md, sections 5, 7, 9 and 13).

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
from tag2box.methods.knowledge import Knowledge
from tag2box.methods.localizers import GaussianBackground, MixtureBackground, VmfBackground, fit_gaussian_background
from tag2box.methods.rivals import AppearanceObjectness
from tag2box.methods.spread import Spread
from tag2box.methods.view import TUKEY_POWER, center_bag, raw_features, signed_power, tukey_features
from tag2box.progress import Report, silent
from tag2box.rows import from_center
from tag2box.sphere import fit_vmf, fit_vmf_mixture
from tag2box.store import FeatureStore, require_same
from tag2box.training.kinship import KINSHIP, KinshipRecipe, Lessons, learn_kinship
from tag2box.training.logistic import balanced, fit_logistic
from tag2box.training.objectness import IS_OBJECT

MAX_OVERLAP = 0.3
"""A region that overlaps every base object by less shows background."""
REGIONS_PER_IMAGE = 50
"""More of one image would let busy images speak for all."""
OBJECTS_PER_IMAGE = 10


def fit_knowledge(
    stores: Sequence[FeatureStore],
    datasets: Sequence[Dataset],
    base: Collection[str],
    *,
    components: int = 1,
    centered: bool = True,
    seed: int = 0,
    kinship: KinshipRecipe = KINSHIP,
    report: Report = silent,
) -> Knowledge:
    """All of it, from the base images in the stores; background comes from those that show base objects only."""
    beside = sample_background(stores, datasets, base, seed)
    center = beside.mean if centered else None
    spread = fit_spread(stores, center)
    lessons = Lessons.of(stores, datasets, base, kinship.photos)
    return Knowledge(
        stores[0].header.fingerprint,
        center,
        fit_background(beside, centered=centered, components=components, rng=np.random.default_rng(seed)),
        VmfBackground(fit_vmf(beside.features)),
        spread,
        learn_kinship(lessons, center, spread, kinship, report),
        *_gaussians(beside, center),
        _appearance(stores, datasets, base, beside, seed),
        beside.images,
        len(beside.features),
    )


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
    sample: BackgroundSample, *, centered: bool, components: int, rng: np.random.Generator
) -> VmfBackground | MixtureBackground:
    """The paper's single vMF, or a mixture, on features as they are or on centred ones."""
    features = from_center(sample.features, sample.mean)[0] if centered else sample.features
    if components == 1:
        return VmfBackground(fit_vmf(features))
    return MixtureBackground(fit_vmf_mixture(features, components, rng).mixture)


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


def _gaussians(beside: BackgroundSample, center: Array | None) -> tuple[GaussianBackground, GaussianBackground]:
    """On features at their own length, or at that from the centre if there is one; and on their roots."""
    raw = beside.features * beside.lengths[:, None] if center is None else beside.features - center  # (n, d)
    roots = signed_power(raw, TUKEY_POWER)
    return fit_gaussian_background(raw, raw_features), fit_gaussian_background(roots, tukey_features)


def _appearance(
    stores: Sequence[FeatureStore],
    datasets: Sequence[Dataset],
    base: Collection[str],
    beside: BackgroundSample,
    seed: int,
) -> AppearanceObjectness:
    """What regions on base objects look like, as against regions beside them."""
    drawn = [
        features
        for store in stores
        for dataset in datasets
        for features in _on_objects(store, dataset.only(base), seed)
    ]
    if not drawn:
        raise NoImagesOfClassError(
            f"no region of the {sum(map(len, stores))} images in the stores is on a base object.",
            "base images with their boxes",
            "check that store and annotations belong together.",
        )
    on = np.concatenate(drawn)  # (n, d)
    is_object = np.repeat([True, False], [len(on), len(beside.features)])
    *weights, bias = fit_logistic(np.concatenate([on, beside.features]), is_object, balanced(is_object))
    return AppearanceObjectness(np.array(weights), bias)


def _on_objects(store: FeatureStore, dataset: Dataset, seed: int) -> Iterator[Array]:
    for image in dataset.images:
        if image.image_id not in store or not image.tags:
            continue
        bag = store.bag(image.image_id)
        covered = box_overlaps(bag.boxes, image.truth.boxes).max(axis=1) >= IS_OBJECT  # (n,)
        rows = np.flatnonzero(covered).tolist()
        chosen = Draws(seed, "objects", image.image_id).sample(rows, min(OBJECTS_PER_IMAGE, len(rows)))
        yield bag.features[chosen].astype(np.float64)
