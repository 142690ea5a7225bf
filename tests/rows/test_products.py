"""Products with half-precision rows: compiled and in numpy, for every kind of processor that this one can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.rows import KINDS, Compiled, Rows, along, compiled, widened
from tag2box.rows import products as module

shapes = st.tuples(st.integers(0, 9), st.integers(1, 70))
seeds = st.integers(0, 2**32 - 1)


def kinds() -> list[Compiled]:
    """The library as every processor up to this one would use it."""
    library = compiled()
    assert library is not None, "rows.c was not compiled: a compiler is part of the development environment"
    return [library.as_kind(kind) for kind in range(library.kind + 1)]


def halves(seed: int, shape: tuple[int, int]) -> Rows:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


def test_every_half_is_widened_to_itself() -> None:
    """All 65,536 of them: zeros, the smallest, infinities and what is no number."""
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    for library in kinds():
        np.testing.assert_array_equal(library.widen(every), every.astype(np.float32), err_msg=KINDS[library.kind])
        np.testing.assert_array_equal(library.widen(every[3:40]), every[3:40].astype(np.float32))


@given(seeds, shapes)
def test_products_are_those_of_numpy(seed: int, shape: tuple[int, int]) -> None:
    rows, vector = halves(seed, shape), np.random.default_rng(seed + 1).standard_normal(shape[1])
    expected = rows.astype(np.float64) @ vector
    for library in kinds():
        found = library.dots(rows, vector.astype(np.float32))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=KINDS[library.kind])
    np.testing.assert_allclose(along(rows, vector), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(along(rows.astype(np.float64), vector), expected, rtol=1e-12, atol=1e-12)


def test_rows_that_do_not_lie_in_one_piece() -> None:
    rows = halves(0, (40, 90))[::3, 5:60:2]
    vector = np.linspace(-1.0, 1.0, rows.shape[1])
    np.testing.assert_allclose(along(rows, vector), rows.astype(np.float64) @ vector, atol=1e-4)
    np.testing.assert_array_equal(widened(rows), rows.astype(np.float32))


def test_without_a_compiler_numpy_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, vector = halves(1, (30, 50)), np.random.default_rng(2).standard_normal(50)
    with_library = along(rows, vector), widened(rows)
    monkeypatch.setattr(module, "compiled", lambda: None)
    np.testing.assert_allclose(along(rows, vector), with_library[0], atol=1e-4)
    np.testing.assert_array_equal(widened(rows), with_library[1])


def test_wide_rows_stay_as_they_are() -> None:
    for dtype in (np.float32, np.float64):
        rows = np.ones((2, 3), dtype=dtype)
        assert widened(rows) is rows
