"""What was found in one image.

n = detections
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, Float32s, Strings, frozen, require_finite, require_shape
from tag2box.boxes import as_boxes, require_boxes
from tag2box.errors import ShapeError


class Detection(NamedTuple):
    """One object that was found."""

    label: str
    score: float
    box: tuple[float, float, float, float]


@final
@dataclass(frozen=True, eq=False)
class Detections:
    """Boxes with labels, best score first."""

    boxes: Float32s
    """(n, 4)"""
    scores: Array
    """(n,), never rising"""
    labels: Strings
    """(n,)"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "boxes", frozen(as_boxes(self.boxes), np.float32))
        object.__setattr__(self, "scores", frozen(self.scores, np.float64))
        object.__setattr__(self, "labels", frozen(self.labels, np.str_))
        require_boxes("detected boxes", self.boxes)
        for name in ("scores", "labels"):
            require_shape(name, getattr(self, name), (len(self.boxes),))
        require_finite("scores", self.scores)
        if (np.diff(self.scores) > 0).any():
            raise ShapeError(
                "the scores of the detections rise.", "the best score first", "build them with Detections.ranked."
            )

    @classmethod
    def ranked(cls, boxes: npt.ArrayLike, scores: npt.ArrayLike, labels: npt.ArrayLike) -> Self:
        """Sort by score; equal scores keep their row order."""
        rows, values, names = as_boxes(boxes), np.asarray(scores, np.float64), np.asarray(labels, np.str_)
        for name, array in (("scores", values), ("labels", names)):
            require_shape(name, array, (len(rows),))
        order = np.argsort(-values, kind="stable")
        return cls(rows[order], values[order], names[order])

    @classmethod
    def joined(cls, parts: Sequence[Detections]) -> Self:
        """All detections of several classes of one image, ranked together."""
        if not parts:
            return cls.ranked([], [], [])
        return cls.ranked(
            np.concatenate([part.boxes for part in parts]),
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.labels for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Detection]:
        for box, score, label in zip(self.boxes.tolist(), self.scores.tolist(), self.labels.tolist(), strict=True):
            yield Detection(label, score, tuple(box))

    def of_class(self, label: str) -> Detections:
        """The detections of one class."""
        rows = self.labels == label
        return Detections(self.boxes[rows], self.scores[rows], self.labels[rows])
