"""Planted images, a bag with the truth behind it and its tags, and the tasks made of them.

Objects sit in separate cells of a grid, so that no two overlap and every verdict is certain.

n = regions, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, require_number, unit_rows
from tag2box.boxes import box_overlaps
from tag2box.errors import ShapeError
from tag2box.sphere import VonMisesFisher
from tag2box.types import ProposalBag, Truth
from tag2box.worlds.world import World

DISTRACTOR = "distractor"
DUPLICATE_KEPT = 0.9
PART_KEPT = 0.55
HEIGHT, WIDTH = 240.0, 320.0
ROWS, COLUMNS = 3, 4
CELLS = ROWS * COLUMNS
WHOLE = np.array([0.0, 0.0, WIDTH, HEIGHT])


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
class PlantedTask:
    """Images that teach and images that ask."""

    classes: tuple[str, ...]
    support: tuple[PlantedImage, ...]
    queries: tuple[PlantedImage, ...]


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


def object_boxes(count: int, rng: np.random.Generator) -> Array:
    """(count, 4) boxes, each in a cell of its own."""
    cells = rng.permutation(CELLS)[:count]
    corner = np.stack([cells % COLUMNS * (WIDTH / COLUMNS), cells // COLUMNS * (HEIGHT / ROWS)], axis=1)  # (count, 2)
    sides = rng.uniform(45.0, 75.0, size=(count, 2))
    room = np.array([WIDTH / COLUMNS, HEIGHT / ROWS]) - sides
    low = corner + rng.uniform(size=(count, 2)) * room
    return np.concatenate([low, low + sides], axis=1)


def shifted_boxes(box: Array, count: int, rng: np.random.Generator) -> Array:
    """(count, 4) boxes that overlap ``box`` by more than 0.6: each edge moves by at most 8 % of the side."""
    sides = np.tile(box[2:] - box[:2], 2)
    moved = box + rng.uniform(-0.08, 0.08, size=(count, 4)) * sides
    return np.clip(moved, 0.0, np.tile(WHOLE[2:], 2))


def half_boxes(box: Array, count: int, rng: np.random.Generator) -> Array:
    """(count, 4) halves of ``box``, 45 % of its width or height: overlap 0.45."""
    halves = np.tile(box, (count, 1))
    axes, ends = rng.integers(2, size=count), rng.integers(2, size=count)
    for row, (axis, end) in enumerate(zip(axes, ends, strict=True)):
        side = 0.45 * (box[2 + axis] - box[axis])
        if end:
            halves[row, axis] = box[2 + axis] - side
        else:
            halves[row, 2 + axis] = box[axis] + side
    return halves


def empty_boxes(objects: Array, count: int, rng: np.random.Generator) -> Array:
    """(count, 4) boxes that overlap every object by less than 0.3."""
    boxes = np.empty((0, 4))
    while len(boxes) < count:
        sides = rng.uniform(20.0, 150.0, size=(2 * count, 2))
        low = rng.uniform(size=(2 * count, 2)) * (WHOLE[2:] - sides)
        tried = np.concatenate([low, low + sides], axis=1)
        boxes = np.concatenate([boxes, tried[box_overlaps(tried, objects).max(axis=1, initial=0.0) < 0.3]])
    return boxes[:count]


def plant_task(world: World, seed: int, *, ways: int = 1, shots: int = 5, queries: int = 1) -> PlantedTask:
    """K images of each of N classes, and so many queries of each; with several classes some images show two."""
    require_number("seed", seed, at_least=0)
    require_number("classes of the world", world.classes, at_least=ways)
    rng = np.random.default_rng([world.seed, 1, seed])
    classes = tuple(world.names[number] for number in rng.permutation(world.classes)[:ways])

    def images(purpose: str, count: int) -> tuple[PlantedImage, ...]:
        wanted = [(label, number) for label in classes for number in range(count)]
        return tuple(
            plant_image(world, f"{purpose}-{label}-{number}", _with_company(label, classes, rng), rng)
            for label, number in wanted
        )

    return PlantedTask(classes, images("support", shots), images("query", queries))


def plant_background(world: World, count: int) -> Array:
    """(count, d) background features of base images, for fitting a background model."""
    features = world.background_features(count, np.random.default_rng([world.seed, 2]))
    return unit_rows("background", np.maximum(features, 0.0))[0] if world.rectified else features


def _with_company(label: str, classes: tuple[str, ...], rng: np.random.Generator) -> tuple[str, ...]:
    """The class, and in a quarter of the images another one of the task."""
    others = [other for other in classes if other != label]
    if others and rng.uniform() < 0.25:
        return label, others[rng.integers(len(others))]
    return (label,)
