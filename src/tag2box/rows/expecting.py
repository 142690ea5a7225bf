"""What EM expects of the regions of many photos, for one direction after another.

M = photos, R = regions of all photos, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple, final

import numpy as np

from tag2box.arrays import Array, Float32s, Ints
from tag2box.rows.compiled import Compiled, compiled
from tag2box.rows.products import Rows, product, widened

TOGETHER = 32
"""Photos whose sums are added up before they are added to those of others: a constant, so that it changes no bit."""

RowSource = Rows | Callable[[], Rows]
"""(n, d) rows of a photo, or what brings them whenever they are needed."""


class Plane(NamedTuple):
    """A direction as it is among rows that nothing was done to, and how far along it lies what they are moved by."""

    vector: Array
    """(d,), or (d, k) of several directions"""
    center_part: Any = 0.0
    """A number, or (k,)"""
    mean_part: Any = 0.0
    """A number, or (k,)"""


class Expected(NamedTuple):
    """What is expected under a direction."""

    weights: Array
    """(R,), of each region within its photo"""
    rows: Ints
    """(M,), the first region of each photo with the highest weight"""
    log_sums: Array
    """(M,), log of the sum of exponentials; -inf where no region may be the object"""
    totals: Array
    """(d + 2,), weighted sums of own coefficient times row, of the centre's coefficient, and of the mean's"""


class Known(NamedTuple):
    """What is known of each row beforehand."""

    offsets: Ints
    """(M + 1,), photo i owns the rows offsets[i] to offsets[i + 1]"""
    coefficients: Float32s
    """(3, R): a row's cosine is own * (row . vector) - center * center_part - mean * mean_part"""
    evidence: Array
    """(R,), what is added to a multiple of the cosine; -inf rules a row out"""

    def some(self, photos: slice) -> Known:
        """The same of some photos."""
        offsets = self.offsets[photos.start : photos.stop + 1]
        rows = slice(int(offsets[0]), int(offsets[-1]))
        return Known(offsets - offsets[0], self.coefficients[:, rows], self.evidence[rows])


@final
class Photos:
    """Rows of photos, with what is known of them."""

    def __init__(self, sources: Sequence[RowSource], known: Known) -> None:
        places = [slice(first, first + TOGETHER) for first in range(0, len(sources), TOGETHER)]
        self._groups = [_Group(sources[place], known.some(place)) for place in places]

    def expect(self, plane: Plane, factor: float, pool: Executor | None = None) -> Expected:
        """Scores, softmax within each photo and weighted sums; a pool works at several groups of photos at once."""
        parts = list((map if pool is None else pool.map)(lambda group: group.expect(plane, factor), self._groups))
        if len(parts) == 1:
            return parts[0]
        weights, rows, log_sums, totals = zip(*parts, strict=True)
        return Expected(np.concatenate(weights), np.concatenate(rows), np.concatenate(log_sums), np.sum(totals, axis=0))


@final
class _Group:
    """A few photos."""

    def __init__(self, sources: Sequence[RowSource], known: Known) -> None:
        self._sources, self._known = sources, known
        self._kept = None if any(map(callable, sources)) else _Ready.of(sources, known)

    def expect(self, plane: Plane, factor: float) -> Expected:
        """What is expected of them."""
        ready = _Ready.of(self._sources, self._known) if self._kept is None else self._kept
        library = compiled()
        if library is None or not len(ready.pointers):
            return expect_in_numpy(ready.rows, ready.known, plane, factor)
        return _expect_compiled(library, ready, plane, factor)


class _Ready(NamedTuple):
    """Rows in memory."""

    rows: list[Rows]
    known: Known
    pointers: Ints
    """(M,), where the rows of each photo begin, if they are halves; else none"""
    addresses: list[int]
    """Of the pointers, and of what is known"""

    @classmethod
    def of(cls, sources: Sequence[RowSource], known: Known) -> _Ready:
        """The rows, brought where need be."""
        rows = [np.ascontiguousarray(source() if callable(source) else source) for source in sources]
        if compiled() is None or any(some.dtype != np.float16 for some in rows):
            return cls([widened(some) for some in rows], known, np.empty(0, dtype=np.int64), [])
        offsets, coefficients, evidence = known
        known = Known(np.ascontiguousarray(offsets, dtype=np.int64), np.ascontiguousarray(coefficients), evidence)
        pointers = np.array([some.ctypes.data for some in rows], dtype=np.int64)
        return cls(rows, known, pointers, [array.ctypes.data for array in (pointers, *known)])


def _expect_compiled(library: Compiled, ready: _Ready, plane: Plane, factor: float) -> Expected:
    pointers, offsets, coefficients, evidence = ready.addresses
    (d,), photos, regions = plane.vector.shape, len(ready.rows), len(ready.known.evidence)
    narrow = np.empty(d + library.room_for(d), dtype=np.float32)  # the vector, and room
    narrow[:d] = plane.vector
    found = np.zeros(regions + photos + d + 2)
    vector, weights = narrow.ctypes.data, found.ctypes.data
    log_sums = weights + found.itemsize * regions
    totals, room = log_sums + found.itemsize * photos, vector + narrow.itemsize * d
    best = np.empty(photos, dtype=np.int64)
    along = vector, d, factor, plane.center_part, plane.mean_part
    answers = weights, best.ctypes.data, log_sums, room, totals
    library.expect(photos, pointers, offsets, coefficients, regions, evidence, *along, *answers)
    return Expected(found[:regions], best, found[regions : regions + photos], found[regions + photos :])


def expect_in_numpy(rows: Sequence[Rows], known: Known, plane: Plane, factor: float) -> Expected:
    """The same in plain words."""
    offsets, coefficients, evidence = known
    weights, best, log_sums = np.empty(len(evidence)), np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
    totals = np.zeros(len(plane.vector) + 2)
    for photo, some in enumerate(rows):
        place = slice(offsets[photo], offsets[photo + 1])
        own, center, mean = coefficients[:, place].astype(np.float64)  # (n,) each
        wide = widened(some)
        cosines = own * product(wide, plane.vector.astype(wide.dtype))
        cosines -= center * plane.center_part + mean * plane.mean_part
        weights[place], log_sums[photo] = softmax(factor * cosines + evidence[place])
        best[photo] = weights[place].argmax()
        totals[:-2] += product((weights[place] * own).astype(wide.dtype), wide)
        totals[-2:] += weights[place] @ center, weights[place] @ mean
    return Expected(weights, best, log_sums, totals)


def softmax(evidence: Array) -> tuple[Array, float]:
    """(n,) weights that sum to 1, and the log of the sum of exponentials; 0 and -inf if all of the evidence is -inf."""
    peak = float(evidence.max(initial=-np.inf))
    if peak == -np.inf:
        return np.zeros(len(evidence)), peak
    exponentials = np.exp(evidence - peak)
    total = float(exponentials.sum())
    return exponentials / total, peak + float(np.log(total))
