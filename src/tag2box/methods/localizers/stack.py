"""The bags of one task on top of each other, so that ragged images cost no padding.

M = images, R = regions of all images, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, Ints
from tag2box.errors import ShapeError, TooFewImagesError
from tag2box.methods.view import Rows, View


@final
@dataclass(frozen=True, eq=False)
class BagStack:
    """Features of all images, what the background makes of them, and which rows are allowed."""

    features: Rows
    """(R, d)"""
    background: Array
    """(R,), weighted log score of the background"""
    offsets: Ints
    """(M + 1,), image i owns the rows offsets[i] to offsets[i + 1]"""
    allowed: Array
    """(R,), log prior: 0 for a row that may be the object, -inf for one that is known not to be"""

    @property
    def starts(self) -> Ints:
        """(M,) first row of each image: the whole image."""
        return self.offsets[:-1]

    @property
    def present(self) -> Ints:
        """Images that have at least one allowed row."""
        return np.flatnonzero(np.maximum.reduceat(self.allowed, self.starts) > -np.inf)

    def split(self, rows: Array) -> list[Array]:
        """Per-row values (R,) as one array for each image."""
        return np.split(rows, self.offsets[1:-1])

    def views(self) -> tuple[View, ...]:
        """What was stacked, image by image; nothing is copied."""
        return tuple(map(View, np.split(self.features, self.offsets[1:-1]), self.split(self.background)))


def stack_views(views: Sequence[View], allowed: Sequence[Array]) -> BagStack:
    """Stack the images of a task, with the log priors (n_i,) of their rows."""
    dimensions = sorted({view.features.shape[1] for view in views})
    if len(dimensions) > 1:
        raise ShapeError(
            f"the images have features of different dimensions: {dimensions}.",
            "one dimension for all images",
            "extract all images with the same extractor.",
        )
    lengths = [len(view.features) for view in views]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)  # (M + 1,)
    return BagStack(
        np.concatenate([view.features for view in views]),
        np.concatenate([view.background for view in views]),
        offsets,
        np.concatenate(allowed),
    )


def require_common(images: int) -> None:
    """Refuse fewer than two images: nothing can be common to one."""
    if images < 2:
        raise TooFewImagesError(
            f"a common object was asked for in {images} image{'s' if images != 1 else ''}.",
            "at least two images that show it",
            "add photos of the same thing; five to ten work well.",
        )


def softmax_by_image(evidence: Array, starts: Ints) -> tuple[Array, Array]:
    """Softmax within each image (R,) and log of the sum of exponentials (M,).

    An image whose evidence is -inf everywhere has weight 0 everywhere and log sum -inf.
    """
    lengths = np.diff(starts, append=len(evidence))  # (M,)
    peaks = np.maximum.reduceat(evidence, starts)  # (M,)
    peaks = np.where(np.isneginf(peaks), 0.0, peaks)
    exponentials = np.exp(evidence - np.repeat(peaks, lengths))  # (R,)
    sums = np.add.reduceat(exponentials, starts)  # (M,)
    weights = exponentials / np.repeat(np.where(sums > 0, sums, 1.0), lengths)
    with np.errstate(divide="ignore"):
        return weights, peaks + np.log(sums)
