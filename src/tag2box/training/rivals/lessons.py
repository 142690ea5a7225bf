"""What rivals learn from: regions of base photos, and which base class each is on.

n = regions of a photo, r = regions that are drawn, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from tag2box.arrays import Float32s, Ints
from tag2box.boxes import box_overlaps
from tag2box.data import Dataset
from tag2box.errors import NoImagesOfClassError
from tag2box.store import FeatureStore
from tag2box.training.objectness import IS_OBJECT

NOTHING = -1
"""Class of a region that is on no base object."""


@final
@dataclass(frozen=True, eq=False)
class LabelledRegions:
    """Regions of base photos that show nothing else that is labelled: what is on no object there is background."""

    classes: tuple[str, ...]
    features: tuple[Float32s, ...]
    """(n, d) for each photo, unit rows; the first is the whole photo"""
    labels: tuple[Ints, ...]
    """(n,), place in ``classes``, or NOTHING"""
    tags: tuple[frozenset[int], ...]
    """The classes that each photo shows"""

    @classmethod
    def of(cls, store: FeatureStore, dataset: Dataset, base: Collection[str]) -> LabelledRegions:
        """Of all such photos in a store."""
        classes = tuple(sorted(base))
        features, labels, tags = [], [], []
        for image in dataset.showing_only(base).images:
            if image.image_id not in store or not len(image.truth.labels):
                continue
            bag = store.bag(image.image_id)
            overlaps = box_overlaps(bag.boxes, image.truth.boxes)  # (n, t)
            own = np.array([classes.index(label) for label in image.truth.labels], dtype=np.int64)
            labels.append(np.where(overlaps.max(axis=1) >= IS_OBJECT, own[overlaps.argmax(axis=1)], NOTHING))
            features.append(bag.features)
            tags.append(frozenset(own.tolist()))
        if not features:
            raise NoImagesOfClassError(
                f"none of the {len(store)} images in {store.folder} shows base objects only.",
                "base images with their boxes",
                "check that store and annotations belong together.",
            )
        return cls(classes, tuple(features), tuple(labels), tuple(tags))

    def __len__(self) -> int:
        return len(self.features)

    @cached_property
    def photos_of(self) -> dict[int, Ints]:
        """Class → photos with a region on it, for classes that two photos show."""
        found = {label: np.flatnonzero([label in own for own in self.labels]) for label in range(len(self.classes))}
        return {label: photos for label, photos in found.items() if len(photos) > 1}

    def draw(self, photo: int, wanted: int, counts: Sequence[int], rng: np.random.Generator) -> tuple[Float32s, Ints]:
        """Features (r, d) and classes (r,) of some regions: of one class, of others, and of none.

        Where a photo lacks one of these kinds, any regions take their place.
        """
        labels = self.labels[photo]
        kinds = (labels == wanted, (labels != wanted) & (labels != NOTHING), labels == NOTHING)
        drawn = [_some(np.flatnonzero(kind), count, rng) for kind, count in zip(kinds, counts, strict=True)]
        missing = sum(counts) - sum(map(len, drawn))
        rows = np.concatenate([*drawn, _some(np.arange(len(labels)), missing, rng)])
        return self.features[photo][rows], labels[rows]


def _some(rows: Ints, count: int, rng: np.random.Generator) -> Ints:
    return rng.choice(rows, count, replace=len(rows) < count) if len(rows) else rows[:0]
