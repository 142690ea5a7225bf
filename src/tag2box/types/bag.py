"""An image as a method sees it: regions with directions, and no labels.

n = regions of the image, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Float32s, frozen, require_finite, require_shape, require_unit_rows, unit_rows
from tag2box.boxes import as_boxes, require_boxes
from tag2box.errors import EmptyBagError, ShapeError
from tag2box.rows import Directions, Lens, widened

WHOLE_IMAGE = 0
"""Row of the whole image in every bag."""

EDGE_TOLERANCE = 1e-2
"""Pixels by which a region may reach over the image's edge through rounding."""


@final
@dataclass(frozen=True, eq=False, init=False)
class ProposalBag:
    """The regions of one image; row 0 is the whole image."""

    image_id: str
    boxes: Float32s
    """(n, 4)"""
    directions: Directions
    """(n), of the regions' features"""
    objectness: Float32s
    """(n,), between 0 and 1"""
    norms: Float32s
    """(n,), the length of each feature before it was scaled to 1"""

    def __init__(
        self,
        image_id: str,
        boxes: npt.ArrayLike,
        features: npt.ArrayLike,
        objectness: npt.ArrayLike,
        norms: npt.ArrayLike,
    ) -> None:
        """``features`` (n, d) have length 1, up to the rounding of half-precision."""
        rows = np.asarray(features)
        kept = frozen(rows, np.float16 if rows.dtype == np.float16 else np.float32)
        columns = {"boxes": as_boxes(boxes), "objectness": objectness, "norms": norms}
        self._set(image_id, **{name: frozen(values, np.float32) for name, values in columns.items()})
        self._check_shapes(kept)
        self._set(image_id, directions=_directions(image_id, kept))
        self._check_values()

    @classmethod
    def from_raw(
        cls, image_id: str, boxes: npt.ArrayLike, raw_features: npt.ArrayLike, objectness: npt.ArrayLike
    ) -> Self:
        """Split raw features into directions and lengths."""
        raw = np.asarray(raw_features, dtype=np.float64)
        if raw.size == 0:
            raise _empty(image_id)
        directions, lengths = unit_rows(f"features of image {image_id!r}", raw)
        return cls(
            image_id,
            as_boxes(boxes),
            directions.astype(np.float32),
            np.asarray(objectness, np.float32),
            lengths.astype(np.float32),
        )

    @classmethod
    def trusted(
        cls, image_id: str, boxes: Float32s, features: npt.NDArray[Any], objectness: npt.NDArray[Any], norms: Float32s
    ) -> Self:
        """The same bag as by the plain constructor, for arrays that come from one: only the features are looked at.

        A shard holds bags that were checked when they were made, and ``store verify`` checks them again in full. To
        check all of them whenever one is read would cost more than the reading. The lengths of the features are needed
        anyway, and tell of most damage.
        """
        bag = object.__new__(cls)
        rows = np.array(features)
        rows.flags.writeable = False
        columns = {"boxes": boxes, "objectness": objectness, "norms": norms}
        bag._set(image_id, **{name: frozen(np.array(values), np.float32) for name, values in columns.items()})
        bag._set(image_id, directions=_directions(image_id, rows))
        return bag

    def lean(self, bring: Callable[[], npt.NDArray[Any]]) -> ProposalBag:
        """The same bag without the rows of its features: ``bring`` brings them whenever they are needed."""
        return self._with(directions=replace(self.directions, source=bring))

    def _set(self, image_id: str, **columns: Any) -> None:
        object.__setattr__(self, "image_id", image_id)
        for name, values in columns.items():
            object.__setattr__(self, name, values)

    @property
    def features(self) -> Float32s:
        """(n, d), unit rows."""
        return self.directions.dense()

    def through(self, lens: Lens) -> ProposalBag:
        """The same regions as a model looks at them; norms become the lengths from its centre, if it has one."""
        directions, lengths = self.directions.through(lens)
        norms = self.norms if lens.center is None else frozen(lengths, np.float32)
        return self._with(directions=directions, norms=norms)

    def plain(self) -> ProposalBag:
        """The same regions as they were before a model looked at them."""
        plain = self.directions.plain()
        return self if plain is self.directions else self._with(directions=plain)

    def with_last_row_of(self, other: ProposalBag) -> ProposalBag:
        """The bag with one more region: the last one of another bag of the same image."""
        rows = np.concatenate([self.directions.rows, other.directions.rows[-1:]])
        names = ("boxes", "objectness", "norms")
        columns = {name: np.concatenate([getattr(self, name), getattr(other, name)[-1:]]) for name in names}
        return self._with(directions=_directions(self.image_id, rows), **columns)

    def _with(self, **columns: Any) -> ProposalBag:
        bag = object.__new__(ProposalBag)
        bag._set(self.image_id, **{"boxes": self.boxes, "objectness": self.objectness, "norms": self.norms} | columns)
        return bag

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        return self.directions.dimension

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the image, in pixels; older extractors missed them by a rounding."""
        return round(float(self.boxes[WHOLE_IMAGE, 3])), round(float(self.boxes[WHOLE_IMAGE, 2]))

    def _check_shapes(self, features: npt.NDArray[Any]) -> None:
        of_image = f"of image {self.image_id!r}"
        require_boxes(f"boxes {of_image}", self.boxes)
        n = len(self.boxes)
        if n == 0:
            raise _empty(self.image_id)
        require_shape(f"features {of_image}", features, (n, None))
        require_finite(f"features {of_image}", features)
        require_shape(f"objectness {of_image}", self.objectness, (n,))
        require_shape(f"norms {of_image}", self.norms, (n,))

    def _check_values(self) -> None:
        of_image = f"of image {self.image_id!r}"
        for name in ("objectness", "norms"):
            require_finite(f"{name} {of_image}", getattr(self, name))
        if ((self.objectness < 0) | (self.objectness > 1)).any():
            raise ShapeError(
                f"objectness {of_image} runs from {self.objectness.min():g} to {self.objectness.max():g}.",
                "values between 0 and 1",
                "apply the sigmoid if these are logits.",
            )
        if (self.norms < 0).any():
            raise ShapeError(
                f"norms {of_image} go down to {self.norms.min():g}.", "lengths of at least 0", "pass lengths."
            )
        self._check_whole_image()

    def _check_whole_image(self) -> None:
        whole = self.boxes[WHOLE_IMAGE]
        outside = (self.boxes[:, :2] < -EDGE_TOLERANCE) | (self.boxes[:, 2:] > whole[2:] + EDGE_TOLERANCE)  # (n, 2)
        if (whole[:2] != 0).any() or (whole[2:] <= 0).any() or outside.any():
            row = int(np.argmax(outside.any(axis=1)))
            raise ShapeError(
                f"row 0 of image {self.image_id!r} is {whole.tolist()} and row {row} is {self.boxes[row].tolist()}.",
                "row 0 to be the whole image, 0 0 width height, and every other box inside it",
                "put the whole image in front and clip the other boxes to it.",
            )


def require_dimension(name: str, bag: ProposalBag, dimension: int) -> None:
    """Refuse a bag whose features have another length than the model's."""
    if bag.dimension != dimension:
        raise ShapeError(
            f"image {bag.image_id!r} has features of {bag.dimension} dimensions, the {name} has {dimension}.",
            "features of the extractor that the model was made with",
            "extract the image again, or use the model of this extractor.",
        )


def _directions(image_id: str, rows: npt.NDArray[Any]) -> Directions:
    """Of rows (n, d) that have length 1 up to rounding; refused if they are not even roughly so.

    Halves stay as they are. Wider rows are scaled to length 1 as exactly as float32 can.
    """
    lengths = require_unit_rows(f"features of image {image_id!r}", widened(rows))
    if rows.dtype == np.float16:
        return Directions.of(rows, rows.shape[1], lengths)
    sharpened = frozen(rows / lengths[:, None], np.float32)
    return Directions.of(sharpened, rows.shape[1], np.ones(len(rows)))


def _empty(image_id: str) -> EmptyBagError:
    return EmptyBagError(
        f"image {image_id!r} has no regions.",
        "at least the whole image, as row 0",
        "put the box 0, 0, width, height and its feature in front.",
    )
