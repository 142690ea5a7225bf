"""What was found in one image.

n = detections
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Self, final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, Float32s, Strings, frozen, require_finite, require_shape
from tag2box.boxes import as_boxes, require_boxes
from tag2box.errors import InputError, ShapeError


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

    def to_coco(self, image_id: int, category_ids: Mapping[str, int]) -> list[dict[str, Any]]:
        """A COCO results list, as ``pycocotools.coco.COCO.loadRes`` takes it: boxes as x, y, width, height."""
        strangers = sorted(set(self.labels.tolist()) - set(category_ids))
        if strangers:
            raise InputError(
                f"there is no category for {strangers[0]!r}.",
                "a number for every label",
                f"add it; there are numbers for {', '.join(category_ids) or 'none'}.",
            )
        return [
            {
                "image_id": image_id,
                "category_id": category_ids[one.label],
                "bbox": [x0, y0, x1 - x0, y1 - y0],
                "score": one.score,
            }
            for one in self
            for x0, y0, x1, y1 in [one.box]
        ]

    def to_supervision(self) -> Any:
        """The same as ``supervision.Detections``; labels are in ``data["class_name"]``, numbered in sorted order."""
        try:
            supervision = import_module("supervision")
        except ImportError as error:
            raise InputError(
                f"the package supervision cannot be imported: {error}.",
                "supervision, which tag2box itself does not need",
                "install it: pip install supervision.",
            ) from error
        _, numbers = np.unique(self.labels, return_inverse=True)  # (n,)
        return supervision.Detections(
            xyxy=self.boxes.copy(),
            confidence=self.scores.astype(np.float32),
            class_id=numbers.astype(np.int64),
            data={"class_name": self.labels.copy()},
        )
