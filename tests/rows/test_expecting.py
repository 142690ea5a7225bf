"""What EM expects, compiled and in plain words: ragged, tiny, ruled out, huge."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.special import softmax as scipy_softmax

from tag2box.rows import Expected, Known, Photos, Plane, Rows, compiled, expect_in_numpy, softmax
from tag2box.rows import expecting as module
from tag2box.rows.expecting import TOGETHER

seeds = st.integers(0, 2**32 - 1)
lengths = st.lists(st.integers(1, 12), min_size=1, max_size=5)


def planted(seed: int, counts: list[int], d: int, dtype: type = np.float16) -> tuple[list[Rows], Known, Plane]:
    """Unit rows, what is known of them, and a plane."""
    rng = np.random.default_rng(seed)
    rows = [rng.standard_normal((n, d)) for n in counts]
    rows = [(each / np.linalg.norm(each, axis=1, keepdims=True)).astype(dtype) for each in rows]
    total = sum(counts)
    evidence = np.where(rng.uniform(size=total) < 0.2, -np.inf, 3.0 * rng.standard_normal(total))
    coefficients = rng.uniform(-2.0, 2.0, size=(3, total)).astype(np.float32)
    plane = Plane(rng.standard_normal(d), *rng.standard_normal(2).tolist())
    return rows, Known(np.cumsum([0, *counts]), coefficients, evidence), plane


def by_definition(rows: list[Rows], known: Known, plane: Plane, factor: float) -> Expected:
    """Row by row, in double precision."""
    own, center, mean = known.coefficients.astype(np.float64)
    flat = np.concatenate(rows).astype(np.float64)
    cosines = [
        own[r] * float(flat[r] @ plane.vector) - center[r] * plane.center_part - mean[r] * plane.mean_part
        for r in range(len(flat))
    ]
    evidence = factor * np.array(cosines) + known.evidence
    parts = np.split(evidence, known.offsets[1:-1])
    nothing = [bool(np.isneginf(part).all()) for part in parts]
    weights = [np.zeros(len(p)) if no else scipy_softmax(p) for p, no in zip(parts, nothing, strict=True)]
    log_sums = [-np.inf if no else logsumexp(p) for p, no in zip(parts, nothing, strict=True)]
    w, best = np.concatenate(weights), np.array([int(own.argmax()) for own in weights])
    return Expected(w, best, np.array(log_sums), np.array([*((w * own) @ flat), w @ center, w @ mean]))


def assert_same(found: Expected, expected: Expected, atol: float) -> None:
    """Which row is the best may differ where two are nearly alike."""
    for value, other in zip(found._replace(rows=expected.rows), expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=atol, atol=atol)


@given(seeds, lengths, st.integers(1, 40), st.floats(-30.0, 30.0))
def test_by_the_definition(seed: int, counts: list[int], d: int, factor: float) -> None:
    rows, known, plane = planted(seed, counts, d)
    found = Photos(rows, known).expect(plane, factor)
    assert_same(found, by_definition(rows, known, plane, factor), 2e-3)
    for best, own in zip(found.rows, np.split(found.weights, known.offsets[1:-1]), strict=True):
        assert best == own.argmax()
    wide = [each.astype(np.float64) for each in rows]
    assert_same(expect_in_numpy(wide, known, plane, factor), by_definition(rows, known, plane, factor), 1e-9)


@given(seeds, lengths, st.integers(1, 70))
def test_every_kind_of_processor_says_the_same(seed: int, counts: list[int], d: int) -> None:
    library = compiled()
    assert library is not None
    rows, known, plane = planted(seed, counts, d)
    expected = expect_in_numpy(rows, known, plane, 8.0)
    for kind in range(library.kind + 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "compiled", partial(library.as_kind, kind))
            assert_same(Photos(rows, known).expect(plane, 8.0), expected, 1e-4)


def test_exponentials_are_those_of_numpy_over_their_whole_range() -> None:
    """The weights of one photo with d = 1 and rows of 0 are the softmax of its evidence, to the last digits."""
    for spread in (1e-3, 1.0, 30.0, 600.0, 5000.0):
        evidence = np.linspace(-spread, 0.0, 1001)
        known = Known(np.array([0, 1001]), np.zeros((3, 1001), dtype=np.float32), evidence)
        found = Photos([np.zeros((1001, 1), dtype=np.float16)], known).expect(Plane(np.ones(1)), 1.0)
        np.testing.assert_allclose(found.weights, scipy_softmax(evidence), rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(found.log_sums, logsumexp(evidence), rtol=1e-13)


def test_a_photo_that_is_ruled_out_adds_nothing() -> None:
    rows, known, plane = planted(0, [4, 3, 5], 20)
    known.evidence[:] = 0.0
    known.evidence[4:7] = -np.inf
    found = Photos(rows, known).expect(plane, 5.0)
    assert found.weights[4:7].tolist() == [0.0] * 3
    assert found.log_sums[1] == -np.inf
    others = Known(np.array([0, 4, 9]), np.delete(known.coefficients, range(4, 7), axis=1), np.zeros(9))
    without = Photos([rows[0], rows[2]], others).expect(plane, 5.0)
    np.testing.assert_array_equal(found.totals, without.totals)


def test_neither_threads_nor_who_brings_the_rows_change_a_bit() -> None:
    counts = [int(n) for n in np.random.default_rng(1).integers(1, 30, size=3 * TOGETHER + 5)]
    rows, known, plane = planted(1, counts, 48)
    alone = Photos(rows, known).expect(plane, 12.0)
    with ThreadPoolExecutor(3) as pool:
        together = Photos(rows, known).expect(plane, 12.0, pool)
    brought = Photos([partial(np.asarray, each) for each in rows], known).expect(plane, 12.0)
    for other in (together, brought):
        for value, expected in zip(other, alone, strict=True):
            assert value.tobytes() == expected.tobytes()


def test_many_photos_are_the_sum_of_their_parts() -> None:
    counts = [7] * (TOGETHER + 3)
    rows, known, plane = planted(2, counts, 16)
    found = Photos(rows, known).expect(plane, 9.0)
    assert_same(found, by_definition(rows, known, plane, 9.0), 2e-3)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_without_a_compiler_numpy_does_it(dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, known, plane = planted(3, [5, 2, 9], 33, dtype)
    expected = by_definition(rows, known, plane, 10.0)
    monkeypatch.setattr(module, "compiled", lambda: None)
    assert_same(Photos(rows, known).expect(plane, 10.0), expected, 2e-3)


def test_softmax_by_hand() -> None:
    weights, log_sum = softmax(np.array([1.0, 1.0, -np.inf]))
    assert weights.tolist() == [0.5, 0.5, 0.0]
    assert log_sum == 1.0 + np.log(2.0)
    weights, log_sum = softmax(np.full(2, -np.inf))
    assert (weights.tolist(), log_sum) == ([0.0, 0.0], -np.inf)
