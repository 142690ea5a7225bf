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
from tag2box.data import Dataset, DatasetImage, labels_all
from tag2box.errors import TrainingError
from tag2box.extract import load_photo, on_canvas
from tag2box.training.detector.objectives import SMALLEST, Objects
from tag2box.training.detector.recipe import Recipe

STILL_ITSELF = 0.4
"""Of which less is seen counts neither as object nor as background."""


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
    """Whether these are all objects that the photo shows, as far as its dataset knows: no other than these is there"""


@final
@dataclass(frozen=True, eq=False)
class Examples:
    """What a detector learns from, and the classes it learns."""

    classes: tuple[str, ...]
    items: tuple[Example, ...]

    def __len__(self) -> int:
        return len(self.items)


def training_examples(
    datasets: Sequence[Dataset], base: Collection[str], held_out: Collection[str], *, partial_files: bool = True
) -> Examples:
    """Photos with at least one object of the base classes that are not held out; all else is as if unlabelled.

    A photo that shows a held-out class is left out as a whole: the detector must never see one, not even as background.
    Without ``partial_files`` only photos of datasets that label every class can be complete.
    """
    classes = tuple(sorted(set(base) - set(held_out)))
    items = [
        example
        for dataset in datasets
        for example in _examples(
            dataset.without(held_out), classes, labels_all=partial_files or labels_all(dataset, datasets, base)
        )
    ]
    kept = tuple(item for item in items if len(item.boxes))
    if not kept:
        raise TrainingError(
            "none of the photos shows a labelled object of a base class.",
            f"annotations of {', '.join(classes[:5])}, …",
            "check the annotation files and the split.",
        )
    return Examples(classes, kept)


def draw_example(example: Example, recipe: Recipe, rng: np.random.Generator) -> tuple[npt.NDArray[np.uint8], Objects]:
    """The photo as the network sees it this time, (S, S, 3), and its objects there.

    It is mirrored or not, smaller or larger, brighter or darker; of a larger one a part is seen.
    """
    pixels = load_photo(example.path, round(recipe.image_size * _random_size(recipe, rng))).pixels
    height, width = pixels.shape[:2]
    if recipe.stretch_squares and height == width:
        height, width = (height, height * 3 // 4) if rng.random() < 0.3 else (width * 3 // 4, width)
        stretched = Image.fromarray(pixels).resize((width, height), Image.Resampling.BILINEAR)
        pixels = np.asarray(stretched)
    scale = np.array([width / example.width, height / example.height] * 2)
    boxes, ignored = example.boxes * scale, example.ignored * scale
    if rng.random() < 0.5:
        pixels, boxes, ignored = pixels[:, ::-1], _mirrored(boxes, width), _mirrored(ignored, width)
    if recipe.recolour:
        pixels = _recoloured(pixels, recipe.recolour, rng)
    window = _random_window(height, width, recipe.image_size, rng)
    pixels = pixels[window[1] : window[3], window[0] : window[2]]
    height, width = pixels.shape[:2]
    cut, seen = _cut(boxes, window)
    large = (seen >= STILL_ITSELF) & ((cut[:, 2:] - cut[:, :2]).min(axis=1) >= SMALLEST)
    undecided = np.concatenate([_cut(ignored, window)[0], cut[~large]])
    undecided = undecided[(undecided[:, 2:] > undecided[:, :2]).all(axis=1)]
    objects = Objects(
        torch.from_numpy(cut[large]).float(),
        torch.from_numpy(example.labels[large]),
        torch.from_numpy(undecided).float(),
        height,
        width,
        example.complete,
    )
    return on_canvas(pixels, (recipe.image_size, recipe.image_size)), objects


def _random_size(recipe: Recipe, rng: np.random.Generator) -> float:
    """How large a photo is seen, against the one that just fits: any ratio is as likely as its neighbours."""
    return float(np.exp(rng.uniform(-np.log(recipe.zoom), np.log(recipe.closest))))


def _random_window(height: int, width: int, side: int, rng: np.random.Generator) -> tuple[int, int, int, int]:
    """The part of a photo that fits on the canvas, as x0, y0, x1, y1."""
    left, top = (int(rng.integers(0, max(extent - side, 0) + 1)) for extent in (width, height))
    return left, top, min(left + side, width), min(top + side, height)


def _cut(boxes: Array, window: tuple[int, int, int, int]) -> tuple[Array, Array]:
    """Boxes as the window shows them, (t, 4), and the share of each that it shows, (t,)."""
    corner, far_corner = np.array(window[:2]), np.array(window[2:])
    inside = np.concatenate([np.maximum(boxes[:, :2], corner), np.minimum(boxes[:, 2:], far_corner)], axis=1)
    shown = np.clip(inside[:, 2:] - inside[:, :2], 0.0, None).prod(axis=1)
    return inside - np.tile(corner, 2), shown / (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)


def _recoloured(pixels: npt.NDArray[np.uint8], strength: float, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Brighter or darker, with more contrast or less."""
    contrast, brightness = np.exp(rng.uniform(-strength, strength, 2))
    table = np.clip((np.arange(256.0) - 127.0) * contrast + 127.0 * brightness, 0.0, 255.0).astype(np.uint8)
    return table[pixels]


def _mirrored(boxes: Array, width: float) -> Array:
    return np.stack([width - boxes[:, 2], boxes[:, 1], width - boxes[:, 0], boxes[:, 3]], axis=1)


def _examples(dataset: Dataset, classes: tuple[str, ...], *, labels_all: bool) -> list[Example]:
    complete = {image.image_id for image in dataset.showing_only(classes).images} if labels_all else set()
    return [_example(image, classes, image.image_id in complete) for image in dataset.only(classes).images]


def _example(image: DatasetImage, classes: tuple[str, ...], complete: bool) -> Example:
    truth = image.truth
    counts = ~truth.ignore & ~truth.crowd
    labels = np.array([classes.index(label) for label in truth.labels[counts]], dtype=np.int64)
    boxes = truth.boxes.astype(np.float64)
    return Example(image.path, image.height, image.width, boxes[counts], labels, boxes[~counts], complete)
