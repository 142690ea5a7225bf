"""How many objects the regions of a store cover.

t = objects
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, Float32s
from tag2box.data import DatasetImage
from tag2box.evaluation import first_covering, recall_at, size_groups
from tag2box.store import FeatureStore

COUNTS = (10, 50, 100, 300)
OVERLAPS = (0.5, 0.7)


@final
@dataclass(frozen=True, eq=False)
class CoveredObjects:
    """All objects that count, and for each overlap the rank of the first region that covers each."""

    images: int
    boxes: Float32s
    """(t, 4)"""
    ranks: dict[float, Array]
    """Overlap → (t,)"""

    def recall(self, overlap: float) -> dict[int, float]:
        """Share of the objects that the first so many regions cover."""
        return recall_at(self.ranks[overlap], COUNTS)

    def by_size(self, overlap: float) -> dict[str, tuple[int, dict[int, float]]]:
        """Number of objects and recall of the small, medium and large ones."""
        groups = size_groups(self.boxes)
        return {name: (int(rows.sum()), recall_at(self.ranks[overlap][rows], COUNTS)) for name, rows in groups.items()}


def cover_objects(
    store: FeatureStore, images: Iterable[DatasetImage], report: Callable[[int, dict[str, float]], None]
) -> CoveredObjects:
    """Compare the regions of a store, in their order and without the whole image, with the objects of the images."""
    boxes: list[Float32s] = []
    ranks: dict[float, list[Array]] = {overlap: [] for overlap in OVERLAPS}
    for done, image in enumerate(images, 1):
        regions = store.bag(image.image_id).boxes[1:]
        boxes.append(image.truth.boxes[~image.truth.ignore])
        for overlap, found in ranks.items():
            found.append(first_covering(regions, boxes[-1], overlap))
        report(done, {})
    together = np.concatenate(boxes) if boxes else np.zeros((0, 4), dtype=np.float32)
    return CoveredObjects(len(boxes), together, {at: np.concatenate(found) for at, found in ranks.items()})
