"""Images with true boxes, as every reader gives them.

t = objects of an image
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self, final

import numpy as np

from tag2box.boxes import Box, Size, clipped_box, has_area
from tag2box.types import Truth


class TrueBox(NamedTuple):
    """An object as an annotation file has it, in pixels of the upright image."""

    label: str
    box: Box
    ignore: bool = False
    """Difficult to see: found or not, it does not count"""
    crowd: bool = False
    """Many objects in one box"""


@final
@dataclass(frozen=True, eq=False)
class DatasetImage:
    """Where an image is, how large it is and what it shows."""

    path: Path
    height: int
    width: int
    truth: Truth

    @classmethod
    def build(cls, path: Path, image_id: str, size: Size, boxes: Sequence[TrueBox]) -> Self:
        """An image with the boxes of a file: cut at its edges, and those left out that have no area then."""
        inside = [each._replace(box=clipped_box(each.box, size)) for each in boxes]
        real = [each for each in inside if has_area(each.box)]
        truth = Truth(
            image_id,
            np.array([each.box for each in real], dtype=np.float64).reshape(-1, 4).astype(np.float32),
            np.array([each.label for each in real], dtype=np.str_),
            np.array([each.ignore for each in real], dtype=bool),
            np.array([each.crowd for each in real], dtype=bool),
        )
        return cls(path, *size, truth)

    @property
    def image_id(self) -> str:
        """The id that bags, truths and episodes share."""
        return self.truth.image_id

    @property
    def objects(self) -> tuple[str, ...]:
        """The class of each object that counts."""
        return tuple(self.truth.labels[~self.truth.ignore].tolist())

    @property
    def tags(self) -> frozenset[str]:
        """Classes of the objects that count: an object that is ignored gives no tag."""
        return frozenset(self.objects)


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """A list of images and the classes that are labelled in them."""

    classes: tuple[str, ...]
    images: tuple[DatasetImage, ...]

    def __len__(self) -> int:
        return len(self.images)

    @property
    def tags(self) -> dict[str, frozenset[str]]:
        """Image id → classes, for drawing episodes."""
        return {image.image_id: image.tags for image in self.images}

    @cached_property
    def labelled(self) -> frozenset[str]:
        """Classes of which there is at least one object; of another, nobody knows if it is labelled here at all."""
        return frozenset(label for image in self.images for label in image.truth.labels.tolist())

    def only(self, classes: Collection[str]) -> Dataset:
        """All images, with the objects of ``classes`` alone: the others are there, but nobody has labelled them."""
        wanted = tuple(label for label in self.classes if label in classes)
        kept = (image.truth.where(np.isin(image.truth.labels, wanted)) for image in self.images)
        return Dataset(wanted, tuple(replace(i, truth=truth) for i, truth in zip(self.images, kept, strict=True)))

    def without(self, classes: Collection[str]) -> Dataset:
        """The images that show no object of ``classes``, not even a difficult one."""
        kept = [image for image in self.images if not set(image.truth.labels.tolist()) & set(classes)]
        return Dataset(tuple(label for label in self.classes if label not in classes), tuple(kept))

    def showing_only(self, classes: Collection[str]) -> Dataset:
        """The images that show no object of the other classes that are labelled here."""
        return self.without(set(self.classes) - set(classes))

    def showing(self, classes: Collection[str]) -> Dataset:
        """The images that are tagged with at least one of ``classes``."""
        return Dataset(self.classes, tuple(image for image in self.images if image.tags & set(classes)))

    def joined(self, other: Dataset) -> Dataset:
        """The images of both; classes that one of them does not label count as labelled in neither."""
        labelled = set(self.classes) & set(other.classes)
        images = (*self.only(labelled).images, *other.only(labelled).images)
        return Dataset(tuple(label for label in self.classes if label in labelled), images)


def labels_all(dataset: Dataset, beside: Iterable[Dataset], classes: Collection[str]) -> bool:
    """Whether a dataset has objects of all ``classes`` that others beside it have."""
    return {label for other in beside for label in other.labelled if label in classes} <= dataset.labelled
