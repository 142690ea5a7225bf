"""Where the common object is, in every image of a support set.

B = images, n_i = regions of image i
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from tag2box.arrays import Array, Ints, frozen, require_finite, require_shape
from tag2box.errors import ShapeError

ABSENT = -1
"""Row of an image that is known not to show the object."""


@final
@dataclass(frozen=True, eq=False)
class Localization:
    """One row of each bag, never an invented box, and how the weight was spread over the rows."""

    rows: Ints
    """(B,), ``ABSENT`` where the object is known to be missing"""
    scores: Array
    """(B,), comparable between the images of one support set"""
    weights: tuple[Array, ...]
    """B arrays (n_i,), each sums to 1, or to 0 where the object is known to be missing"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", frozen(self.rows, np.int64))
        object.__setattr__(self, "scores", frozen(self.scores, np.float64))
        object.__setattr__(self, "weights", tuple(frozen(weights, np.float64) for weights in self.weights))
        require_shape("chosen rows", self.rows, (len(self.weights),))
        require_shape("scores", self.scores, (len(self.weights),))
        for image, (row, weights) in enumerate(zip(self.rows.tolist(), self.weights, strict=True)):
            require_finite(f"weights of image {image}", weights)
            if row != ABSENT and not 0 <= row < len(weights):
                raise ShapeError(
                    f"row {row} was chosen in image {image}, which has {len(weights)} regions.",
                    f"a row from 0 to {len(weights) - 1}, or {ABSENT} for an absent object",
                    "count the rows of each bag from 0.",
                )

    @classmethod
    def from_weights(cls, weights: Iterable[Array], scores: Iterable[Array]) -> Self:
        """Choose in each image the row with the most weight; the first one where several have it."""
        per_image = tuple(weights)
        rows = np.array([w.argmax() if w.any() else ABSENT for w in per_image], dtype=np.int64)  # (B,)
        chosen = [s[row] if row != ABSENT else -np.inf for row, s in zip(rows, scores, strict=True)]
        return cls(rows, np.array(chosen, dtype=np.float64), per_image)

    @classmethod
    def of_best(cls, scores: Iterable[Array]) -> Self:
        """Choose in each image the row with the best score, the first one of several, and be sure of it."""
        per_image = tuple(scores)
        weights = [(np.arange(len(s)) == s.argmax()).astype(np.float64) for s in per_image]
        return cls.from_weights(weights, per_image)

    @property
    def doubt(self) -> Array:
        """(B,) weight outside the chosen row; 0 where a person said that the object is missing."""
        chosen = [w[row] if row != ABSENT else 1.0 for row, w in zip(self.rows, self.weights, strict=True)]
        return 1.0 - np.array(chosen, dtype=np.float64)
