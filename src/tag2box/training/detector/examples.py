"""From annotated photos to what a training step eats.

S = side of the network's input; t = objects of an image
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from tag2box.arrays import Array
from tag2box.data import Dataset, DatasetImage
from tag2box.errors import TrainingError
from tag2box.extract import load_photo, on_canvas
from tag2box.training.detector.objectives import SMALLEST, Objects
from tag2box.training.detector.recipe import Recipe


@final
@dataclass(frozen=True, eq=False)
class Example:
    """A photo and its labelled objects, in pixels of the full photo."""

    path: Path
    height: int
    width: int
    boxes: Array
    """(t, 4)"""
    labels: npt.NDArray[np.int64]
    """(t,), places in the list of classes"""
    ignored: Array
    complete: bool
    """Whether no class that the dataset labels, but these classes, is in the photo"""


@final
@dataclass(frozen=True, eq=False)
class Examples:
    """What a detector learns from, and the classes it learns."""

    classes: tuple[str, ...]
    items: tuple[Example, ...]

    def __len__(self) -> int:
        return len(self.items)


def training_examples(datasets: Sequence[Dataset], base: Collection[str], held_out: Collection[str]) -> Examples:
    """Photos with at least one object of the base classes that are not held out; all else is as if unlabelled.

    A photo that shows a held-out class is left out as a whole: the detector must never see one, not even as background.
    """
    classes = tuple(sorted(set(base) - set(held_out)))
    unseen = [dataset.without(held_out) for dataset in datasets]
    items = [example for dataset in unseen for example in _examples(dataset, classes)]
    kept = tuple(item for item in items if len(item.boxes))
    if not kept:
        raise TrainingError(
            "none of the photos shows a labelled object of a base class.",
            f"annotations of {', '.join(classes[:5])}, …",
            "check the annotation files and the split.",
        )
    return Examples(classes, kept)


def draw_example(example: Example, recipe: Recipe, rng: np.random.Generator) -> tuple[npt.NDArray[np.uint8], Objects]:
    """The photo as the network sees it this time, (S, S, 3): mirrored or not, smaller or not; and its objects there."""
    longest = round(recipe.image_size / rng.uniform(1.0, recipe.zoom))
    pixels = load_photo(example.path, longest).pixels
    height, width = pixels.shape[:2]
    if recipe.stretch_squares and height == width:
        height, width = (height, height * 3 // 4) if rng.random() < 0.3 else (width * 3 // 4, width)
        stretched = Image.fromarray(pixels).resize((width, height), Image.Resampling.BILINEAR)
        pixels = np.asarray(stretched)
    scale = np.array([width / example.width, height / example.height] * 2)
    boxes, ignored = example.boxes * scale, example.ignored * scale
    if rng.random() < 0.5:
        pixels, boxes, ignored = pixels[:, ::-1], _mirrored(boxes, width), _mirrored(ignored, width)
    large = (boxes[:, 2:] - boxes[:, :2]).min(axis=1) >= SMALLEST
    objects = Objects(
        torch.from_numpy(boxes[large]).float(),
        torch.from_numpy(example.labels[large]),
        torch.from_numpy(np.concatenate([ignored, boxes[~large]])).float(),
        height,
        width,
        example.complete,
    )
    return on_canvas(pixels, recipe.image_size), objects


def _mirrored(boxes: Array, width: float) -> Array:
    return np.stack([width - boxes[:, 2], boxes[:, 1], width - boxes[:, 0], boxes[:, 3]], axis=1)


def _examples(dataset: Dataset, classes: tuple[str, ...]) -> list[Example]:
    complete = {image.image_id for image in dataset.showing_only(classes).images}
    return [_example(image, classes, image.image_id in complete) for image in dataset.only(classes).images]


def _example(image: DatasetImage, classes: tuple[str, ...], complete: bool) -> Example:
    truth = image.truth
    counts = ~truth.ignore & ~truth.crowd
    labels = np.array([classes.index(label) for label in truth.labels[counts]], dtype=np.int64)
    boxes = truth.boxes.astype(np.float64)
    return Example(image.path, image.height, image.width, boxes[counts], labels, boxes[~counts], complete)
