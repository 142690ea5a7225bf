"""Checks at birth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from tag2box.arrays import frozen, require_finite, require_number, require_shape, require_unit_rows, sigmoid, unit_rows
from tag2box.errors import NotFiniteError, NotUnitLengthError, ShapeError


def test_sigmoid_agrees_with_scipy_and_does_not_overflow() -> None:
    logits = np.array([-1000.0, -30.0, -1.0, 0.0, 2.0, 30.0, 1000.0])
    np.testing.assert_allclose(sigmoid(logits), expit(logits), rtol=1e-13)


def test_a_frozen_array_cannot_be_written_and_does_not_follow_its_source() -> None:
    source = np.arange(3.0)
    kept = frozen(source, np.float64)
    source[0] = 9.0
    assert kept.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1.0


def test_a_read_only_array_is_not_copied() -> None:
    source = np.arange(3.0)
    source.flags.writeable = False
    assert np.shares_memory(frozen(source, np.float64), source)


def test_a_read_only_view_of_a_writable_array_is_copied() -> None:
    source = np.arange(3.0)
    view = source[:]
    view.flags.writeable = False
    kept = frozen(view, np.float64)
    source[0] = 9.0
    assert kept[0] == 0.0


def test_numbers_outside_their_range_are_refused() -> None:
    require_number("tau", 1.0, above=0.0)
    require_number("steps", 0, at_least=0)
    for value in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ShapeError, match=r"tau is .*\n.*a finite number above 0"):
            require_number("tau", value, above=0.0)
    with pytest.raises(ShapeError, match="of at least 2"):
        require_number("images", 1, at_least=2)


def test_shape_errors_name_the_array_and_both_shapes() -> None:
    with pytest.raises(ShapeError, match=r"boxes has shape \(2, 3\)[\s\S]*shape \(any, 4\)"):
        require_shape("boxes", np.zeros((2, 3)), (None, 4))
    with pytest.raises(ShapeError):
        require_shape("boxes", np.zeros(4), (None, 4))
    require_shape("boxes", np.zeros((0, 4)), (None, 4))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_finite_errors_say_where(bad: float) -> None:
    with pytest.raises(NotFiniteError, match=r"1 values that are NaN or infinite.*at \(1, 0\)"):
        require_finite("x", np.array([[1.0, 2.0], [bad, 3.0]]))


def test_unit_length_errors_say_which_row_and_how_long() -> None:
    with pytest.raises(NotUnitLengthError, match="row 1 has length 2"):
        require_unit_rows("features", np.array([[1.0, 0.0], [0.0, 2.0]]))
    require_unit_rows("features", np.array([[1.0005, 0.0]]))
    for bad in (1.002, np.nan):
        with pytest.raises(NotUnitLengthError):
            require_unit_rows("features", np.array([[bad, 0.0]]))


def test_unit_rows_splits_direction_and_length() -> None:
    directions, lengths = unit_rows("x", [[3.0, 4.0], [0.0, -2.0]])
    assert directions.tolist() == [[0.6, 0.8], [0.0, -1.0]]
    assert lengths.tolist() == [5.0, 2.0]
    with pytest.raises(NotUnitLengthError, match="row 1 is all zeros"):
        unit_rows("x", [[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(NotFiniteError):
        unit_rows("x", [[np.nan, 0.0]])
