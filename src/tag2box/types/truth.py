"""What is really in an image. Only evaluation and data may know it.

t = objects of the image
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Bools, Float32s, Strings, frozen, require_shape
from tag2box.boxes import as_boxes, require_boxes


@final
@dataclass(frozen=True, eq=False)
class Truth:
    """The objects of one image; ignored ones are neither hits nor misses."""

    image_id: str
    boxes: Float32s
    """(t, 4)"""
    labels: Strings
    """(t,)"""
    ignore: Bools
    """(t,), difficult objects and crowds"""
    crowd: Bools
    """(t,), boxes around many objects, which COCO lets any number of detections fall into; all are ignored"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "boxes", frozen(as_boxes(self.boxes), np.float32))
        object.__setattr__(self, "labels", frozen(self.labels, np.str_))
        object.__setattr__(self, "crowd", frozen(self.crowd, np.bool_))
        object.__setattr__(self, "ignore", frozen(np.asarray(self.ignore, np.bool_) | self.crowd, np.bool_))
        require_boxes(f"true boxes of image {self.image_id!r}", self.boxes)
        for name in ("labels", "ignore", "crowd"):
            require_shape(f"{name} of image {self.image_id!r}", getattr(self, name), (len(self.boxes),))

    @classmethod
    def plain(cls, image_id: str, boxes: npt.ArrayLike, labels: Sequence[str]) -> Self:
        """Objects that all count."""
        rows, counted = as_boxes(boxes), np.zeros(len(labels), dtype=bool)
        return cls(image_id, rows, np.array(labels, dtype=np.str_), counted, counted)

    def __len__(self) -> int:
        return len(self.boxes)

    def of_class(self, label: str) -> Truth:
        """The objects of one class."""
        return self.where(self.labels == label)

    def where(self, rows: Bools) -> Truth:
        """The objects at the rows that are True."""
        return Truth(self.image_id, self.boxes[rows], self.labels[rows], self.ignore[rows], self.crowd[rows])
