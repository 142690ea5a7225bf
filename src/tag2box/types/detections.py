"""What was found in one image.

n = detections
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Self, final, overload

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, Float32s, Strings, frozen, require_finite, require_shape
from tag2box.boxes import as_boxes, require_boxes
from tag2box.errors import InputError, ShapeError
from tag2box.words import counted

SHOWN = 5
"""Detections that the short form tells."""


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

    @overload
    def __getitem__(self, which: int | np.integer[Any]) -> Detection: ...

    @overload
    def __getitem__(self, which: slice | Sequence[int] | npt.NDArray[Any]) -> Detections: ...

    def __getitem__(
        self, which: int | np.integer[Any] | slice | Sequence[int] | npt.NDArray[Any]
    ) -> Detection | Detections:
        """One detection by its place, or several: a slice, places or a mask (n,); they stay ranked."""
        if isinstance(which, int | np.integer):
            x0, y0, x1, y1 = self.boxes[which].tolist()
            return Detection(str(self.labels[which]), float(self.scores[which]), (x0, y0, x1, y1))
        rows = np.arange(len(self))[which] if isinstance(which, slice) else np.asarray(which)
        places = np.flatnonzero(rows) if rows.dtype == np.bool_ else np.sort(rows.astype(np.int64))
        if rows.dtype == np.bool_:
            require_shape("a mask of detections", rows, (len(self),))
        return Detections(self.boxes[places], self.scores[places], self.labels[places])

    def __repr__(self) -> str:
        shown = ", ".join(f"{one.label} {one.score:.2f}" for one in self[:SHOWN])
        more = f", and {len(self) - SHOWN} more" if len(self) > SHOWN else ""
        return f"<{counted(len(self), 'detection')}: {shown}{more}>" if len(self) else "<no detections>"

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
