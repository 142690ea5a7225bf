"""An extractor without a network: regions on a grid, described by their colours. Everything else is as with a real one.

n = regions, d = feature dimension
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planted_model import planted_model
from tag2box.arrays import Array
from tag2box.boxes import Boxes, as_boxes
from tag2box.extract import Extracted, Photo, Picture, as_photo, load_photo
from tag2box.model import Model
from tag2box.product.class_file import ClassSet, KnownClass
from tag2box.types import ProposalBag

SIDE = 64
"""Longest side of a photo when it is looked at."""
COLOURS = 8
"""A feature says how much of the box is dark or bright in red, green and blue: black, blue, green, … white."""


@dataclass(eq=False)
class PlantedExtractor:
    """Fulfils ``Extractor``, and remembers which photos it has looked at."""

    fingerprint: str = "planted"
    dimension: int = COLOURS
    seen: list[str] = field(default_factory=list)

    def extract(self, picture: Picture, image_id: str) -> Extracted:
        """The whole photo, its quarters and its sixteenths."""
        photo = _photo(picture)
        self.seen.append(image_id)
        return _extracted(photo, image_id, _grid(photo))

    def describe_boxes(self, picture: Picture, image_id: str, boxes: npt.ArrayLike) -> Extracted:
        """The whole photo and the boxes."""
        photo = _photo(picture)
        return _extracted(photo, image_id, np.concatenate([_grid(photo)[:1], as_boxes(boxes)]))


def planted_world(fingerprint: str | None = None) -> tuple[Model, PlantedExtractor]:
    """A model for which a box of one colour alone scores 5 and what is dark is no object, and its extractor."""
    extractor = PlantedExtractor()
    model = planted_model(COLOURS, objectness_weight=1.0, extractor=extractor)
    extractor.fingerprint = fingerprint or model.fingerprint
    return model, extractor


def planted_classes(*labels: str, threshold: float = 4.0) -> ClassSet:
    """Classes whose things are red, and green, and blue."""
    axes = np.eye(COLOURS, dtype=np.float32)[[4, 2, 1]]
    return ClassSet(
        planted_model(COLOURS).fingerprint,
        tuple(
            KnownClass(label, axis, np.zeros((0, COLOURS), np.float32), 1.0, threshold, -2.0, {})
            for label, axis in zip(labels, axes, strict=False)
        ),
    )


def _photo(picture: Picture) -> Photo:
    return load_photo(picture, SIDE) if isinstance(picture, Path) else as_photo(picture, SIDE)


def _grid(photo: Photo) -> Boxes:
    """(21, 4), in pixels of the full photo."""
    boxes = []
    for cells in (1, 2, 4):
        x, y = (np.linspace(0, length, cells + 1) for length in (photo.width, photo.height))
        boxes += [[x[i], y[j], x[i + 1], y[j + 1]] for j in range(cells) for i in range(cells)]
    return np.array(boxes, dtype=np.float32)


def _extracted(photo: Photo, image_id: str, boxes: Boxes) -> Extracted:
    features = np.stack([_colours(photo, box) for box in boxes])  # (n, d)
    bag = ProposalBag.from_raw(image_id, boxes, features, np.clip(0.5 * (1 - features[:, 0]), 0.01, 0.5))
    return Extracted(bag, photo.source_hash, photo.height, photo.width)


def _colours(photo: Photo, box: Array) -> Array:
    """(d,), the share of each colour in a box, at least a little."""
    height, width = photo.pixels.shape[:2]
    scale = np.array([width / photo.width, height / photo.height] * 2)
    x0, y0, x1, y1 = np.round(box * scale).astype(int).tolist()
    inside = photo.pixels[y0 : max(y1, y0 + 1), x0 : max(x1, x0 + 1)].reshape(-1, 3) > 127
    share = np.bincount(inside @ [4, 2, 1], minlength=COLOURS) / len(inside)
    return np.maximum(share, 1e-3)
