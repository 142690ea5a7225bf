"""The images of one task beside each other; nothing of their features is copied.

M = images, R = regions of all images, d = feature dimension
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from typing import final

import numpy as np

from tag2box.arrays import Array, Ints
from tag2box.errors import ShapeError, TooFewImagesError
from tag2box.methods.view import View
from tag2box.rows import Expected, Known, Lens, Photos

MANY = 128
"""Images from which on several cores look at them: of fewer, one core has them in its cache."""


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())


@final
@dataclass(frozen=True, eq=False)
class BagStack:
    """What EM looks at: the images of a task, and which of their regions are allowed."""

    views: tuple[View, ...]
    allowed: tuple[Array, ...]
    """(n,) each, log prior: 0 for a row that may be the object, -inf for one that is known not to be"""

    @cached_property
    def offsets(self) -> Ints:
        """(M + 1,), image i owns the rows offsets[i] to offsets[i + 1]."""
        return np.cumsum([0, *map(len, self.allowed)])

    @cached_property
    def present(self) -> Ints:
        """Images that have at least one allowed row."""
        return np.flatnonzero([rows.max() > -np.inf for rows in self.allowed])

    @property
    def lens(self) -> Lens:
        """What all images are seen through."""
        return self.views[0].directions.lens

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        return self.views[0].directions.dimension

    @cached_property
    def _photos(self) -> Photos:
        evidence = [allowed - view.background for allowed, view in zip(self.allowed, self.views, strict=True)]
        coefficients = np.concatenate([view.directions.coefficients for view in self.views], axis=1)
        known = Known(self.offsets, coefficients, np.concatenate(evidence))
        return Photos([view.directions.source for view in self.views], known)

    def expect(self, direction: Array, factor: float) -> Expected:
        """What follows from evidence that rises along a direction (d,); the totals are the sum (d,) of directions."""
        pool = _pool() if len(self.views) >= MANY else None
        expected = self._photos.expect(self.lens.plane(direction), factor, pool)
        return expected._replace(totals=self.lens.sum(expected.totals))

    def split(self, rows: Array) -> list[Array]:
        """Per-row values (R,) as one array for each image."""
        return np.split(rows, self.offsets[1:-1])

    def mean_of(self, rows: Iterable[tuple[int, int]]) -> Array:
        """(d,), mean of the directions at some rows, each an image and a row of its bag."""
        chosen = [self.views[image].directions.at([row])[0] for image, row in rows]
        return np.mean(chosen, axis=0, dtype=np.float64)


def stack_views(views: Sequence[View], allowed: Sequence[Array]) -> BagStack:
    """Stack the images of a task, with the log priors (n_i,) of their rows."""
    dimensions = sorted({view.directions.dimension for view in views})
    if len(dimensions) > 1:
        raise ShapeError(
            f"the images have features of different dimensions: {dimensions}.",
            "one dimension for all images",
            "extract all images with the same extractor.",
        )
    return BagStack(tuple(views), tuple(allowed))


def require_common(images: int) -> None:
    """Refuse fewer than two images: nothing can be common to one."""
    if images < 2:
        raise TooFewImagesError(
            f"a common object was asked for in {images} image{'s' if images != 1 else ''}.",
            "at least two images that show it",
            "add photos of the same thing; five to ten work well.",
        )
