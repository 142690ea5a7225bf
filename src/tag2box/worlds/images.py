"""Planted images: a bag, the truth behind it and its tags.

n = regions, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array
from tag2box.errors import ShapeError
from tag2box.sphere import VonMisesFisher
from tag2box.types import ProposalBag, Truth
from tag2box.worlds.layout import CELLS, WHOLE, empty_boxes, half_boxes, object_boxes, shifted_boxes
from tag2box.worlds.world import World

DISTRACTOR = "distractor"
DUPLICATE_KEPT = 0.9
PART_KEPT = 0.55


@final
@dataclass(frozen=True, eq=False)
class PlantedImage:
    """An image of a planted world."""

    bag: ProposalBag
    truth: Truth
    tags: tuple[str, ...]
    """What a person said the image shows; not always true."""


@final
@dataclass(frozen=True, eq=False)
class _Regions:
    """Regions of one kind."""

    boxes: Array
    """(n, 4)"""
    features: Array
    """(n, d)"""
    objectness: Array
    """(n,)"""


def plant_image(world: World, image_id: str, tags: Sequence[str], rng: np.random.Generator) -> PlantedImage:
    """An image tagged ``tags``; with the world's chance of wrong tags, it shows none of them."""
    shown = () if rng.uniform() < world.wrong_tags else tuple(tags)
    labels = [label for label in shown for _ in range(rng.integers(world.instances[0], world.instances[1] + 1))]
    labels += [DISTRACTOR] * int(rng.integers(world.distractors[0], world.distractors[1] + 1))
    _require_room(image_id, len(labels))
    boxes = object_boxes(len(labels), rng)
    kinds = [_object_regions(world, box, label, rng) for box, label in zip(boxes, labels, strict=True)]
    kinds.append(_background_regions(world, boxes, rng))
    return PlantedImage(_bag(world, image_id, kinds, rng), Truth.plain(image_id, boxes, labels), tuple(tags))


def _object_regions(world: World, box: Array, label: str, rng: np.random.Generator) -> _Regions:
    """An object, near-duplicates of it and parts of it, which mix it with more and more background."""
    feature = world.distractor_feature(rng) if label == DISTRACTOR else world.object_feature(label, rng)
    kept = np.array([1.0] + [DUPLICATE_KEPT] * world.near_duplicates + [PART_KEPT] * world.parts)  # (n,)
    around = world.background_features(len(kept), rng)
    features = kept[:, None] * feature + (1.0 - kept[:, None]) * around
    boxes = np.concatenate(
        [box[None], shifted_boxes(box, world.near_duplicates, rng), half_boxes(box, world.parts, rng)]
    )
    return _Regions(boxes, features, 0.9 * kept * rng.uniform(0.7, 1.0, size=len(kept)))


def _background_regions(world: World, objects: Array, rng: np.random.Generator) -> _Regions:
    count = int(rng.integers(world.regions[0], world.regions[1] + 1))
    features = world.background_features(count, rng)
    return _Regions(empty_boxes(objects, count, rng), features, rng.uniform(0.0, 0.5, size=count))


def _bag(world: World, image_id: str, kinds: Sequence[_Regions], rng: np.random.Generator) -> ProposalBag:
    """All regions in random order behind the whole image."""
    features = np.concatenate([kind.features for kind in kinds])
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    order = rng.permutation(len(features))
    boxes = np.concatenate([kind.boxes for kind in kinds])[order]
    objectness = np.concatenate([kind.objectness for kind in kinds])[order]
    lengths = rng.lognormal(0.0, 0.5, size=len(features) + 1)  # a length says little about the class
    raw = lengths[:, None] * np.concatenate([_whole_feature(world, features, rng), features[order]])
    if world.rectified:
        raw = np.maximum(raw, 0.0)
    return ProposalBag.from_raw(image_id, np.vstack([WHOLE, boxes]), raw, np.append(0.5, objectness))


def _whole_feature(world: World, features: Array, rng: np.random.Generator) -> Array:
    """(1, d) feature of the whole image: the mean of everything in it, and something of its own."""
    mean = features.mean(axis=0)
    return VonMisesFisher(mean / np.linalg.norm(mean), world.background_kappa).sample(1, rng)


def _require_room(image_id: str, objects: int) -> None:
    if objects > CELLS:
        raise ShapeError(
            f"image {image_id!r} would show {objects} objects.",
            f"at most {CELLS}, so that none overlap",
            "ask for fewer tags, instances or distractors.",
        )
