"""What is really in an image. Only evaluation and data may know it.

t = objects of the image
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Bools, Float32s, Strings, frozen, require_shape
from tag2box.boxes import require_boxes


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
    """(t,), difficult and crowd objects"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "boxes", frozen(np.asarray(self.boxes, np.float32).reshape(-1, 4), np.float32))
        object.__setattr__(self, "labels", frozen(self.labels, np.str_))
        object.__setattr__(self, "ignore", frozen(self.ignore, np.bool_))
        require_boxes(f"true boxes of image {self.image_id!r}", self.boxes)
        for name in ("labels", "ignore"):
            require_shape(f"{name} of image {self.image_id!r}", getattr(self, name), (len(self.boxes),))

    def of_class(self, label: str) -> tuple[Float32s, Bools]:
        """Boxes and ignore flags of the objects of one class."""
        rows = self.labels == label
        return self.boxes[rows], self.ignore[rows]
