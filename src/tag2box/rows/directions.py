"""Directions of regions, without moving the rows that they come from.

A model looks at features from their centre, or along other axes. The rows stay as the store has them: three numbers
for each row say what the lens makes of it, and a direction is carried to the rows instead of the rows to the direction
(docs/method.md, section 4).

n = regions, k = vectors, d = feature dimension, D = dimension of the directions that a lens makes of features
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, cast, final
from weakref import WeakKeyDictionary

import numpy as np

from tag2box.arrays import Array, Float32s, frozen, require_finite, require_shape
from tag2box.rows.expecting import Plane, RowSource
from tag2box.rows.products import Rows, along, product, widened


@final
@dataclass(frozen=True, eq=False)
class Lens:
    """How a model looks at features: from their centre (4.1), then along other axes (4.2), each time at length 1."""

    center: Array | None = None
    """(d,); None looks from where they are"""
    mean: Array | None = None
    """(d,), of centred features; with the matrix"""
    matrix: Array | None = None
    """(d, D), the axes in its columns; None leaves them as they are"""

    def __post_init__(self) -> None:
        for name in ("center", "mean", "matrix"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name), np.float64))
                require_finite(f"{name} of a lens", getattr(self, name))

    @property
    def changes_nothing(self) -> bool:
        """Whether features stay where they are."""
        return self.center is None and self.matrix is None

    def seen(self, rows: Rows) -> tuple[Rows, Float32s, Rows]:
        """What becomes of unit rows (n, d): directions (n, D), coefficients (3, n) and lengths (n,) from the centre.

        A row that equals the centre keeps its direction. One that the axes leave nothing of has none: it is like
        nothing.
        """
        ones = np.ones(len(rows), dtype=rows.dtype)
        moved, lengths, centered = rows, ones, np.zeros_like(ones)
        if self.center is not None:
            moved, lengths = from_center(rows, self.center)
            centered = (lengths > 0).astype(rows.dtype)
        own = 1.0 / np.where(lengths > 0, lengths, 1.0)
        if self.matrix is None or self.mean is None:
            return moved, np.stack([own, own * centered, np.zeros_like(own)]).astype(np.float32), lengths
        white = product(moved - self.mean.astype(rows.dtype), self._matrix(rows.dtype))  # (n, D)
        sizes = row_lengths(white)
        per_size = np.where(sizes > 0, 1.0 / np.where(sizes > 0, sizes, 1.0), 0.0).astype(rows.dtype)
        white *= per_size[:, None]
        own = own * per_size
        return white, np.stack([own, own * centered, per_size]).astype(np.float32), lengths

    def plane(self, directions: Array) -> Plane:
        """A direction (D,) that was found through the lens, or several (D, k), as they are among the rows."""
        vectors = directions if self.matrix is None else product(self._matrix(directions.dtype), directions)
        return Plane(vectors, *(0.0 if at is None else at @ vectors for at in (self.center, self.mean)))

    def _matrix(self, dtype: np.dtype[Any]) -> Rows:
        return self._narrow if dtype == np.float32 else cast("Array", self.matrix)

    @cached_property
    def _narrow(self) -> Float32s:
        return cast("Array", self.matrix).astype(np.float32)

    def sum(self, totals: Array) -> Array:
        """(D,) weighted sum of directions, from the totals (d + 2,) of their rows and coefficients."""
        moved = totals[:-2].copy()
        for at, share in ((self.center, totals[-2]), (self.mean, totals[-1])):
            if at is not None:
                moved -= share * at
        return moved if self.matrix is None else moved @ self.matrix


NO_LENS = Lens()
NEAR = 0.05
"""Rows that are so near to the centre are moved, and their lengths computed from what remains."""


def from_center(rows: Rows, center: Array) -> tuple[Rows, Rows]:
    """Directions (n, d) and lengths (n,) of ``rows - center``, (4.1); a row that equals it keeps its direction."""
    require_shape("base mean", center, (rows.shape[1],))
    moved = rows - center.astype(rows.dtype)  # (n, d)
    lengths = row_lengths(moved)
    nothing = lengths == 0
    moved /= np.where(nothing, 1.0, lengths).astype(rows.dtype)[:, None]
    moved[nothing] = rows[nothing]
    return moved, lengths


def row_lengths(rows: Rows) -> Rows:
    """(n,)."""
    return np.sqrt(np.einsum("nd,nd->n", rows, rows))


@final
class Landmarks:
    """Directions (k, d) that many others are compared with: a lens carries them once."""

    def __init__(self, directions: Rows) -> None:
        self.directions = directions
        self._planes: WeakKeyDictionary[Lens, Plane] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self.directions)

    def through(self, lens: Lens) -> Plane:
        """As they are among the rows that a lens looks at."""
        if lens not in self._planes:
            self._planes[lens] = lens.plane(self.directions.T)
        return self._planes[lens]


@final
@dataclass(frozen=True, eq=False)
class Directions:
    """Unit vectors: rows, and what a lens makes of them."""

    source: RowSource
    """(n, d), or what brings them"""
    dimension: int
    """Length D of a direction"""
    own: Float32s
    """(n,), one over the length of each row"""
    coefficients: Float32s
    """(3, n), what the lens makes of a row: of itself, of the centre and of the mean"""
    lens: Lens = NO_LENS
    kept: Rows | None = None
    """(n, D) the directions themselves, where they were worked out and the rows are in memory anyway"""
    before: Directions | None = None
    """Through no lens, where a lens has led to rows of their own"""

    @classmethod
    def of(cls, source: RowSource, dimension: int, lengths: Array) -> Self:
        """Of rows (n, d) with these lengths (n,)."""
        own = frozen(1.0 / lengths, np.float32)
        nothing = np.zeros_like(own)
        return cls(source, dimension, own, frozen(np.stack([own, nothing, nothing]), np.float32))

    @property
    def rows(self) -> Rows:
        """(n, d)."""
        return self.source() if callable(self.source) else self.source

    def __len__(self) -> int:
        return len(self.own)

    def through(self, lens: Lens) -> tuple[Directions, Rows]:
        """The same rows through another lens, and their lengths (n,) from its centre."""
        if not self.lens.changes_nothing:
            return Directions.of(self.dense(), self.dimension, np.ones(len(self))).through(lens)
        quickly = self._quickly_through(lens)
        if quickly is not None:
            return quickly
        seen, coefficients, lengths = lens.seen(self._units())
        if not callable(self.source) and seen.shape[1] < self.source.shape[1]:
            return self._shorter(seen), lengths
        coefficients[0] *= self.own
        kept = None if callable(self.source) else _read_only(seen)
        changed = {"dimension": seen.shape[1], "coefficients": frozen(coefficients, np.float32)}
        return replace(self, lens=lens, kept=kept, **changed), lengths

    def _shorter(self, seen: Rows) -> Directions:
        """What a lens with few axes makes of rows: shorter rows, as precise as these, are read faster from then on."""
        rows = _read_only(seen.astype(self.rows.dtype, copy=False))
        lengths = row_lengths(widened(rows))
        return replace(Directions.of(rows, rows.shape[1], np.where(lengths > 0, lengths, 1.0)), before=self)

    def _quickly_through(self, lens: Lens) -> tuple[Directions, Rows] | None:
        """The same without moving a row, for a lens that only centres, and rows that are not too near to the centre."""
        if lens.center is None or lens.matrix is not None or len(lens.center) != self.dimension:
            return None
        squares = 1.0 + lens.center @ lens.center - 2.0 * self.own * along(self.rows, lens.center)  # (n,)
        if squares.min(initial=1.0) < NEAR**2:
            return None
        lengths = np.sqrt(squares)
        coefficients = frozen(np.stack([self.own / lengths, 1.0 / lengths, np.zeros_like(lengths)]), np.float32)
        return replace(self, coefficients=coefficients, lens=lens), lengths

    def plain(self) -> Directions:
        """The same regions through no lens."""
        if self.before is not None or self.lens.changes_nothing:
            return self.before or self
        nothing = np.zeros_like(self.own)
        dimension = self.dimension if self.lens.matrix is None else len(self.lens.matrix)
        coefficients = np.stack([self.own, nothing, nothing])
        return replace(self, dimension=dimension, coefficients=coefficients, lens=NO_LENS, kept=None)

    def dense(self) -> Rows:
        """(n, d) the directions themselves, read-only."""
        if self.kept is not None:
            return self.kept
        units = self._units()
        return _read_only(units if self.lens.changes_nothing else self.lens.seen(units)[0])

    def at(self, some: Array | list[int]) -> Rows:
        """(k, d) some of the directions."""
        units = widened(self.rows[some]) * self.own[some, None]
        return units if self.lens.changes_nothing else self.lens.seen(units)[0]

    def along(self, direction: Array) -> Array:
        """(n,) cosines with a direction (d,)."""
        plane = self.lens.plane(direction)
        own, center, mean = self.coefficients.astype(np.float64)
        return own * along(self.rows, plane.vector) - center * plane.center_part - mean * plane.mean_part

    def sum(self, weights: Array) -> Array:
        """(d,) sum of the directions by weights (n,)."""
        rows = widened(self.rows)
        own, center, mean = self.coefficients.astype(np.float64)
        total = product((weights * own).astype(rows.dtype), rows)
        return self.lens.sum(np.array([*total, weights @ center, weights @ mean]))

    def against(self, landmarks: Landmarks) -> Rows:
        """(n, k) cosines with several directions."""
        wide, (vectors, center_parts, mean_parts) = widened(self.rows), landmarks.through(self.lens)  # (d, k), (k,)
        own, center, mean = self.coefficients.astype(wide.dtype)[:, :, None]  # (n, 1) each
        cosines = product(wide, vectors.astype(wide.dtype))  # (n, k)
        cosines *= own
        for coefficient, parts in ((center, center_parts), (mean, mean_parts)):
            cosines -= coefficient * np.asarray(parts, dtype=wide.dtype)
        return cosines

    def _units(self) -> Rows:
        rows = self.rows
        return widened(rows) * self.own.astype(np.result_type(rows.dtype, np.float32))[:, None]


def _read_only(rows: Rows) -> Rows:
    rows.flags.writeable = False
    return rows
