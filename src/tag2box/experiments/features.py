"""How good the features of an extractor are.

How well they tell unseen classes apart: nearest prototype among the true boxes of objects. And how well the detector
that they come from detects its own classes: the sanity check of every training run.

n = objects, d = feature dimension, C = classes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, unit_rows
from tag2box.boxes import suppress_overlaps
from tag2box.data import DatasetImage, Draws
from tag2box.errors import PoolTooSmallError
from tag2box.evaluation import (
    Interval,
    ap_101_points,
    average_precisions,
    macro_mean,
    match_coco,
    t_interval,
)
from tag2box.extract import Card, TwoGraphs
from tag2box.methods.detectors.query import MAX_OVERLAP
from tag2box.progress import Report
from tag2box.rows import from_center
from tag2box.types import Detections, Truth

SHOTS = 5
QUERIES = 10
OBJECTS_OF_A_CLASS = 60
LEAST_PROBABILITY = 0.02
"""Of a class that a region is taken for."""


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


def describe_objects(extractor: TwoGraphs, objects: Sequence[DrawnObject], report: Report) -> Array:
    """(n, d), the features of the true boxes."""
    rows = []
    for done, thing in enumerate(objects, 1):
        seen = extractor.see_file(thing.image.path)
        rows.append(extractor.describe(seen, thing.image.truth.boxes[[thing.row]]).features[0])
        report(done, {})
    return np.stack(rows).astype(np.float64)


def feature_parts(features: Array, card: Card) -> dict[str, Array]:
    """Features (n, d) and the parts that they are made of, each at length 1, as they are and centred, by title."""
    shown = ({name: unit, f"{name}, centred": centered(unit)} for name, unit in unit_parts(features, card).items())
    return {title: values for both in shown for title, values in both.items()}


def unit_parts(features: Array, card: Card) -> dict[str, Array]:
    """Features (n, d) and the parts that they are made of, each at length 1, by name."""
    parts = {"features": features, "backbone part": features[:, : card.pooled]}
    told = card.pooled + card.embedding
    parts |= {"embedding part": features[:, card.pooled : told]} if card.embedding else {}
    parts |= {"core part": features[:, told : card.described]} if card.core else {}
    return {name: unit_rows(name, values)[0] for name, values in parts.items()}


def prototype_accuracy(features: Array, labels: Sequence[str], episodes: int, seed: int) -> Interval:
    """Share of query objects whose nearest prototype, the mean of 5 unit features (n, d), is that of their class."""
    names = np.array(labels)
    classes = np.unique(names)
    rng = np.random.default_rng(seed)
    return t_interval([_episode(features, names, classes, rng) for _ in range(episodes)])


def centered(features: Array) -> Array:
    """Unit features seen from their mean."""
    return from_center(features, features.mean(axis=0))[0]


def base_average_precision(extractor: TwoGraphs, images: Sequence[DatasetImage], report: Report) -> float:
    """Mean AP50 (COCO's 101 points) of the classes that the model was trained on."""
    classes = tuple(extractor.card.trained_on["classes"])
    pairs: list[tuple[Detections, Truth]] = []
    for done, image in enumerate(images, 1):
        pairs.append((_detect(extractor, image, classes), image.truth))
        report(done, {})
    return macro_mean(average_precisions(pairs, classes, match_coco, ap_101_points))


def _detect(extractor: TwoGraphs, image: DatasetImage, classes: tuple[str, ...]) -> Detections:
    """Every region scored by its class times the overlap that it is believed to have."""
    seen = extractor.see_file(image.path)
    bag = extractor.bag(seen, image.image_id)
    probabilities = extractor.describe(seen, bag.boxes).classes[:, :-1].astype(np.float64)
    per_class = []
    for place, label in enumerate(classes):
        likely = np.flatnonzero(probabilities[:, place] > LEAST_PROBABILITY)
        scores = probabilities[likely, place] * bag.objectness[likely]
        rows = suppress_overlaps(bag.boxes[likely], scores, MAX_OVERLAP)
        per_class.append(Detections(bag.boxes[likely[rows]], scores[rows], np.full(len(rows), label)))
    return Detections.joined(per_class)


def _episode(features: Array, names: np.ndarray, classes: np.ndarray, rng: np.random.Generator) -> float:
    rows = [rng.permutation(np.flatnonzero(names == label))[: SHOTS + QUERIES] for label in classes]
    prototypes = np.stack([features[some[:SHOTS]].mean(axis=0) for some in rows])  # (C, d)
    prototypes /= np.linalg.norm(prototypes, axis=1, keepdims=True)
    asked = np.concatenate([some[SHOTS:] for some in rows])
    nearest = classes[(features[asked] @ prototypes.T).argmax(axis=1)]
    return float(np.mean(nearest == names[asked]))
