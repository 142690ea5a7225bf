"""An image as a method sees it: regions with directions, and no labels.

n = regions of the image, d = feature dimension
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Float32s, frozen, require_finite, require_shape, require_unit_rows, unit_rows
from tag2box.boxes import as_boxes, require_boxes
from tag2box.errors import EmptyBagError, ShapeError

WHOLE_IMAGE = 0
"""Row of the whole image in every bag."""

EDGE_TOLERANCE = 1e-2
"""Pixels by which a region may reach over the image's edge through rounding."""


@final
@dataclass(frozen=True, eq=False)
class ProposalBag:
    """The regions of one image; row 0 is the whole image."""

    image_id: str
    boxes: Float32s
    """(n, 4)"""
    features: Float32s
    """(n, d), unit rows"""
    objectness: Float32s
    """(n,), between 0 and 1"""
    norms: Float32s
    """(n,), the length of each feature before it was scaled to 1"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "boxes", frozen(as_boxes(self.boxes), np.float32))
        for name in ("features", "objectness", "norms"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float32))
        self._check_shapes()
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
        object.__setattr__(bag, "image_id", image_id)
        object.__setattr__(bag, "features", _sharpened(image_id, features))
        for name, values in (("boxes", boxes), ("objectness", objectness), ("norms", norms)):
            object.__setattr__(bag, name, frozen(np.array(values, dtype=np.float32), np.float32))
        return bag

    def with_features(self, features: Float32s, norms: Float32s) -> ProposalBag:
        """The same regions with other features, which are known to be unit rows; nothing is checked again."""
        return self._of_arrays(boxes=self.boxes, features=features, objectness=self.objectness, norms=norms)

    def with_last_row_of(self, other: ProposalBag) -> ProposalBag:
        """The bag with one more region: the last one of another bag of the same image."""
        names = ("boxes", "features", "objectness", "norms")
        return self._of_arrays(**{n: np.concatenate([getattr(self, n), getattr(other, n)[-1:]]) for n in names})

    def _of_arrays(self, **arrays: Float32s) -> ProposalBag:
        bag = object.__new__(ProposalBag)
        object.__setattr__(bag, "image_id", self.image_id)
        for name, array in arrays.items():
            array.flags.writeable = False
            object.__setattr__(bag, name, array)
        return bag

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        return int(self.features.shape[1])

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the image, in pixels; older extractors missed them by a rounding."""
        return round(float(self.boxes[WHOLE_IMAGE, 3])), round(float(self.boxes[WHOLE_IMAGE, 2]))

    def _check_shapes(self) -> None:
        of_image = f"of image {self.image_id!r}"
        require_boxes(f"boxes {of_image}", self.boxes)
        n = len(self.boxes)
        if n == 0:
            raise _empty(self.image_id)
        require_shape(f"features {of_image}", self.features, (n, None))
        require_shape(f"objectness {of_image}", self.objectness, (n,))
        require_shape(f"norms {of_image}", self.norms, (n,))

    def _check_values(self) -> None:
        of_image = f"of image {self.image_id!r}"
        for name in ("features", "objectness", "norms"):
            require_finite(f"{name} {of_image}", getattr(self, name))
        object.__setattr__(self, "features", _sharpened(self.image_id, self.features))
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


def _sharpened(image_id: str, features: npt.NDArray[Any]) -> Float32s:
    """Features (n, d) of length 1 as exactly as float32 can; refused if they are not even roughly so."""
    wide = np.array(features, dtype=np.float64)
    wide /= require_unit_rows(f"features of image {image_id!r}", wide)[:, None]
    sharpened = wide.astype(np.float32)
    sharpened.flags.writeable = False
    return sharpened


def _empty(image_id: str) -> EmptyBagError:
    return EmptyBagError(
        f"image {image_id!r} has no regions.",
        "at least the whole image, as row 0",
        "put the box 0, 0, width, height and its feature in front.",
    )
