"""Directions through a lens, without moving a row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_units, unit
from tag2box.errors import ShapeError
from tag2box.rows import NO_LENS, Directions, Landmarks, Lens, Rows, from_center

seeds = st.integers(0, 2**32 - 1)


def some_lens(rng: np.random.Generator, d: int, kind: str) -> Lens:
    center, mean = 0.4 * random_units(rng, 1, d)[0], 0.3 * random_units(rng, 1, d)[0]
    half = rng.standard_normal((d, d))
    matrix = half @ half.T + 0.5 * np.eye(d)
    return {"none": NO_LENS, "center": Lens(center), "white": Lens(None, mean, matrix)}.get(
        kind, Lens(center, mean, matrix)
    )


def directions_of(rows: Rows) -> Directions:
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    return Directions.of(rows, rows.shape[1], lengths)


def by_definition(rows: Rows, lens: Lens) -> Rows:
    """(4.1) and (4.2), in double precision."""
    seen = unit(rows.astype(np.float64))
    if lens.center is not None:
        seen = unit(seen - lens.center)
    if lens.matrix is not None and lens.mean is not None:
        seen = unit((seen - lens.mean) @ lens.matrix)
    return seen


@given(seeds, st.sampled_from(["none", "center", "white", "both"]), st.sampled_from([np.float16, np.float32]))
def test_every_product_is_that_of_the_directions_themselves(seed: int, kind: str, dtype: type) -> None:
    rng = np.random.default_rng(seed)
    lens = some_lens(rng, 24, kind)
    rows: Rows = random_units(rng, 9, 24).astype(dtype)
    seen, _ = directions_of(rows).through(lens)
    exact = by_definition(rows, lens)
    np.testing.assert_allclose(seen.dense(), exact, atol=5e-6)
    np.testing.assert_allclose(seen.at([2, 0]), exact[[2, 0]], atol=5e-6)
    others = random_units(rng, 4, 24)
    np.testing.assert_allclose(seen.along(others[0]), exact @ others[0], atol=2e-5)
    np.testing.assert_allclose(seen.against(Landmarks(others)), exact @ others.T, atol=2e-5)
    weights = rng.uniform(size=9)
    np.testing.assert_allclose(seen.sum(weights), weights @ exact, atol=2e-5)


@given(seeds, st.sampled_from([np.float16, np.float32]))
def test_few_axes_make_rows_of_their_own_as_precise_as_those_that_they_come_from(seed: int, dtype: type) -> None:
    rng = np.random.default_rng(seed)
    center, mean = 0.4 * random_units(rng, 1, 24)[0], 0.3 * random_units(rng, 1, 24)[0]
    lens = Lens(center, mean, rng.standard_normal((24, 7)))
    rows: Rows = random_units(rng, 9, 24).astype(dtype)
    plain = directions_of(rows)
    seen, _ = plain.through(lens)
    exact, others, weights = by_definition(rows, lens), random_units(rng, 4, 7), rng.uniform(size=9)
    near = 1e-5 if dtype == np.float32 else 2e-3
    assert seen.rows.shape == (9, 7)
    assert seen.rows.dtype == dtype
    assert seen.dimension == 7
    assert seen.plain() is plain
    np.testing.assert_allclose(seen.dense(), exact, atol=near)
    np.testing.assert_allclose(seen.at([2, 0]), exact[[2, 0]], atol=near)
    np.testing.assert_allclose(seen.along(others[0]), exact @ others[0], atol=near)
    np.testing.assert_allclose(seen.against(Landmarks(others)), exact @ others.T, atol=near)
    np.testing.assert_allclose(seen.sum(weights), weights @ exact, atol=9 * near)


def test_few_axes_leave_rows_where_they_are_that_are_brought_when_needed() -> None:
    rng = np.random.default_rng(5)
    rows: Rows = random_units(rng, 6, 10).astype(np.float16)
    lens = Lens(None, np.zeros(10), rng.standard_normal((10, 4)))
    lean, _ = Directions.of(lambda: rows, 10, np.linalg.norm(rows.astype(np.float64), axis=1)).through(lens)
    there, _ = directions_of(rows).through(lens)
    assert (lean.rows.shape, lean.dimension, lean.plain().dimension) == ((6, 10), 4, 10)
    np.testing.assert_allclose(lean.along(np.ones(4)), there.along(np.ones(4)), atol=4e-3)


def test_a_lens_before_a_lens() -> None:
    rng = np.random.default_rng(3)
    rows, first, second = (
        random_units(rng, 6, 10).astype(np.float32),
        some_lens(rng, 10, "center"),
        Lens(np.full(10, 0.1)),
    )
    twice, _ = directions_of(rows).through(first)[0].through(second)
    np.testing.assert_allclose(twice.dense(), by_definition(by_definition(rows, first), second), atol=1e-5)


def test_rows_are_brought_when_they_are_needed_and_not_kept() -> None:
    rng, asked = np.random.default_rng(4), list[int]()
    rows = random_units(rng, 6, 10).astype(np.float16)

    def bring() -> Rows:
        asked.append(1)
        return rows

    lean = Directions.of(bring, 10, np.linalg.norm(rows.astype(np.float64), axis=1))
    assert (len(lean), lean.dimension, asked) == (6, 10, [])
    seen, _ = lean.through(Lens(np.full(10, 0.1)))
    assert seen.kept is None
    there, _ = directions_of(rows).through(Lens(np.full(10, 0.1)))
    np.testing.assert_array_equal(seen.along(np.ones(10)), there.along(np.ones(10)))
    np.testing.assert_array_equal(seen.dense(), there.dense())


def test_landmarks_are_carried_once_for_each_lens() -> None:
    landmarks, lens = Landmarks(np.eye(3)), Lens(np.array([0.5, 0.0, 0.0]))
    assert landmarks.through(lens) is landmarks.through(lens)
    assert landmarks.through(lens).center_part.tolist() == [0.5, 0.0, 0.0]
    assert landmarks.through(NO_LENS).center_part == 0.0
    assert len(landmarks) == 3


def test_centring_by_hand() -> None:
    found, lengths = from_center(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.0, 0.5]))
    np.testing.assert_allclose(lengths, [1.25**0.5, 0.5])
    np.testing.assert_allclose(found, [[2 / 5**0.5, -1 / 5**0.5], [0.0, 1.0]])
    with pytest.raises(ShapeError, match="base mean"):
        from_center(np.ones((1, 2)), np.zeros(3))


def test_a_row_at_the_centre_keeps_its_direction_and_one_at_the_mean_is_like_nothing() -> None:
    row = np.array([[0.6, 0.8]])
    found, lengths = from_center(row, row[0])
    np.testing.assert_array_equal(found, row)
    assert lengths.tolist() == [0.0]
    kept, _ = directions_of(row).through(Lens(row[0]))
    np.testing.assert_allclose(kept.along(row[0]), [1.0], rtol=1e-6)
    gone, _ = directions_of(row).through(Lens(None, row[0], np.eye(2)))
    assert gone.dense().tolist() == [[0.0, 0.0]]
    assert gone.along(row[0]).tolist() == [0.0]


def test_centring_undoes_a_common_offset() -> None:
    """Features crowded in a cone spread out again when the cone's middle is taken away."""
    rng = np.random.default_rng(2)
    offset = np.full(32, 2.0 / 32**0.5)
    crowded = unit(offset + random_units(rng, 400, 32))
    spread, _ = from_center(crowded, crowded.mean(axis=0))
    assert np.linalg.norm(crowded.mean(axis=0)) > 0.8
    assert np.linalg.norm(spread.mean(axis=0)) < 0.1


@given(seeds, st.floats(0.0, 0.7))
def test_centring_in_single_precision_is_that_in_double_to_a_millionth(seed: int, length: float) -> None:
    """A mean inside the sphere: no unit row comes closer to it than 0.3."""
    rng = np.random.default_rng(seed)
    rows, mean = random_units(rng, 20, 64).astype(np.float32), length * random_units(rng, 1, 64)[0]
    single, double = from_center(rows, mean), from_center(rows.astype(np.float64), mean)
    for found, exact in zip(single, double, strict=True):
        assert (str(found.dtype), str(exact.dtype)) == ("float32", "float64")
        np.testing.assert_allclose(found, exact, atol=1e-6)
