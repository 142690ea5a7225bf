"""The products of rows.c, where a compiler was at hand when the package was installed."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

Halves = npt.NDArray[np.float16]

KINDS = ("any processor", "AVX2", "AVX-512")
"""What the code was compiled for, the one for this machine chosen at run time."""
_INT, _LONG, _NUMBER, _POINTER = ctypes.c_int, ctypes.c_int64, ctypes.c_double, ctypes.c_void_p


@final
class Compiled:
    """Calls into the library; arrays must have the dtypes that rows.c names, and lie in one piece."""

    def __init__(self, path: Path, kind: int | None = None) -> None:
        library = ctypes.CDLL(str(path))
        self._path, self.kind = path, int(library.kind_of_processor()) if kind is None else kind
        self._widen, self._dots, self._expect = library.widen, library.dots, library.expect
        self._widen.argtypes = [_INT, _POINTER, _LONG, _POINTER]
        self._dots.argtypes = [_INT, _POINTER, _LONG, _POINTER, _LONG, _POINTER]
        self._expect.argtypes = [
            *(_INT, _LONG, _POINTER, _POINTER, _POINTER, _LONG, _POINTER, _POINTER, _LONG),
            *(_NUMBER, _NUMBER, _NUMBER, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
        ]
        self.multiplies_bytes = bool(library.multiplies_bytes())
        self._room_for = library.room_for
        self._room_for.argtypes, self._room_for.restype = [_LONG], _LONG
        for function in (self._widen, self._dots, self._expect):
            function.restype = None

    def as_kind(self, kind: int) -> Compiled:
        """The same for a lesser processor, by its place in KINDS."""
        return Compiled(self._path, kind)

    def widen(self, rows: Halves) -> npt.NDArray[np.float32]:
        """The same numbers as float32."""
        wide = np.empty(rows.shape, dtype=np.float32)
        self._widen(self.kind, rows.ctypes.data, rows.size, wide.ctypes.data)
        return wide

    def dots(self, rows: Halves, vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
        """(n,) products of the rows (n, d) with a vector (d,)."""
        products = np.empty(len(rows))
        self._dots(self.kind, rows.ctypes.data, len(rows), vector.ctypes.data, rows.shape[1], products.ctypes.data)
        return products

    def room_for(self, dimension: int) -> int:
        """How many floats ``expect`` needs room for."""
        return int(self._room_for(dimension))

    def expect(self, photos: int, *arguments: Any) -> None:
        """What rows.c says of it; places in memory stand for arrays."""
        self._expect(self.kind, photos, *arguments)


@cache
def compiled() -> Compiled | None:
    """The library, or None where it was not built."""
    for suffix in EXTENSION_SUFFIXES:
        path = Path(__file__).with_name(f"_rows{suffix}")
        if path.exists():
            return Compiled(path)
    return None


def multiplies_bytes() -> bool:
    """Whether this processor is known to add up products of bytes without overflow."""
    library = compiled()
    return library is not None and library.multiplies_bytes
