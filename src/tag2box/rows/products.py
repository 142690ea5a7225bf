"""Products with rows as a feature store has them: half-precision, or wider where they come from elsewhere.

Numpy says what each product is. Where rows.c was compiled, it computes those of half-precision rows: numpy is slow at
them.

n = rows, d = feature dimension
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from tag2box.arrays import Array
from tag2box.rows.compiled import compiled

Rows = npt.NDArray[Any]
"""(n, d) in float16, as a store has them, float32 or float64."""


def widened(rows: Rows) -> Rows:
    """The rows in float32, or as they are if they are wider."""
    library = compiled()
    if rows.dtype != np.float16:
        return rows
    return rows.astype(np.float32) if library is None else library.widen(np.ascontiguousarray(rows))


def product(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Matrix product of finite arrays.

    Some BLAS kernels compute with what lies behind a short row, and then drop it. What lies there may be no number, and
    that numpy warns of invalid values then says nothing about the answer.
    """
    with np.errstate(invalid="ignore"):
        return first @ second


def one_blas_thread() -> AbstractContextManager[object]:
    """A block in which a product takes one thread: they are small, and threads that wait for each other cost more."""
    return _pools().limit(limits=1, user_api="blas")


@cache
def _pools() -> ThreadpoolController:
    """The thread pools of the libraries that are loaded."""
    return ThreadpoolController()


def along(rows: Rows, vector: Array) -> Array:
    """(n,) products of the rows with one vector (d,), exact where the rows are wide."""
    library = compiled()
    if rows.dtype == np.float16 and library is not None:
        return library.dots(np.ascontiguousarray(rows), np.ascontiguousarray(vector, dtype=np.float32))
    return product(rows.astype(np.float64, copy=False), vector)
