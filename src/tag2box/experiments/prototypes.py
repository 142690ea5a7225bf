"""How well features tell unseen classes apart: nearest prototype among the true boxes of objects.

n = objects, d = feature dimension, C = classes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array
from tag2box.data import DatasetImage, Draws
from tag2box.errors import PoolTooSmallError
from tag2box.evaluation import Interval, t_interval
from tag2box.methods.localizers import center_rows

SHOTS = 5
QUERIES = 10
OBJECTS_OF_A_CLASS = 60


@final
@dataclass(frozen=True)
class DrawnObject:
    """An object whose true box is described."""

    image: DatasetImage
    row: int
    label: str


def draw_objects(images: Sequence[DatasetImage], classes: Sequence[str], seed: int) -> list[DrawnObject]:
    """Some objects of every class, at most one of a class from each image."""
    drawn: list[DrawnObject] = []
    for label in classes:
        candidates = [
            DrawnObject(image, int(rows[0]), label)
            for image in images
            if len(rows := np.flatnonzero((image.truth.labels == label) & ~image.truth.ignore))
        ]
        if len(candidates) < SHOTS + QUERIES:
            raise PoolTooSmallError(
                f"class {label!r} has {len(candidates)} images.", f"{SHOTS + QUERIES} images", "leave it out."
            )
        drawn += Draws(seed, label).sample(candidates, min(OBJECTS_OF_A_CLASS, len(candidates)))
    return drawn


def prototype_accuracy(features: Array, labels: Sequence[str], episodes: int, seed: int) -> Interval:
    """Share of query objects whose nearest prototype, the mean of 5 unit features (n, d), is that of their class."""
    names = np.array(labels)
    classes = np.unique(names)
    rng = np.random.default_rng(seed)
    return t_interval([_episode(features, names, classes, rng) for _ in range(episodes)])


def centered(features: Array) -> Array:
    """Unit features seen from their mean."""
    return center_rows(features, features.mean(axis=0))[0]


def _episode(features: Array, names: np.ndarray, classes: np.ndarray, rng: np.random.Generator) -> float:
    rows = [rng.permutation(np.flatnonzero(names == label))[: SHOTS + QUERIES] for label in classes]
    prototypes = np.stack([features[some[:SHOTS]].mean(axis=0) for some in rows])  # (C, d)
    prototypes /= np.linalg.norm(prototypes, axis=1, keepdims=True)
    asked = np.concatenate([some[SHOTS:] for some in rows])
    nearest = classes[(features[asked] @ prototypes.T).argmax(axis=1)]
    return float(np.mean(nearest == names[asked]))
