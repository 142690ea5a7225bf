"""The Bessel quantities against mpmath, over the whole range that is promised."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ive

from oracles import DIMENSIONS, exact_log_normalizer, exact_ratio
from tag2box.errors import NotFiniteError, ShapeError
from tag2box.sphere import bessel_ratio, bessel_ratio_slope, log_normalizer

BOUNDARY = [4, 5, 65, 66, 67]  # around the order where the expansion takes over
KAPPAS = [0.0, *(10.0**power for power in range(-3, 6)), 3.7, 42.0, 555.5, 7654.0]

dimensions = st.integers(2, 4096)
kappas = st.floats(0.0, 1e5)


@pytest.mark.parametrize("d", DIMENSIONS + BOUNDARY)
def test_log_normalizer_is_within_1e_9_of_mpmath(d: int) -> None:
    found = log_normalizer(KAPPAS, d)
    errors = [abs((value - exact) / exact) for value, exact in zip(found, _exact_normalizers(d), strict=True)]
    assert max(errors) < 1e-12  # promised: 1e-9


def _exact_normalizers(d: int) -> list[mp.mpf]:
    return [exact_log_normalizer(kappa, d) for kappa in KAPPAS]


@pytest.mark.parametrize("d", DIMENSIONS + BOUNDARY)
def test_bessel_ratio_is_exact_to_the_last_digits(d: int) -> None:
    exact = np.array([float(exact_ratio(kappa, d)) for kappa in KAPPAS])
    np.testing.assert_allclose(bessel_ratio(KAPPAS, d), exact, rtol=3e-15)


@pytest.mark.parametrize("d", DIMENSIONS + BOUNDARY)
def test_slope_of_the_ratio(d: int) -> None:
    for kappa in (0.5, 42.0, 555.5):
        with mp.workdps(50):
            ratio = exact_ratio(kappa, d)
            exact = float(1 - ratio**2 - (d - 1) * ratio / mp.mpf(kappa))
        assert float(bessel_ratio_slope(kappa, d)) == pytest.approx(exact, rel=1e-9)
    assert float(bessel_ratio_slope(0.0, d)) == pytest.approx(1 / d, rel=1e-11)


def test_three_dimensions_by_hand() -> None:
    for kappa in (0.5, 2.0, 30.0):
        assert float(log_normalizer(kappa, 3)) == pytest.approx(math.log(4 * math.pi * math.sinh(kappa) / kappa))
        assert float(bessel_ratio(kappa, 3)) == pytest.approx(1 / math.tanh(kappa) - 1 / kappa)


def test_without_concentration_the_normalizer_is_the_area_of_the_sphere() -> None:
    assert float(log_normalizer(0.0, 2)) == pytest.approx(math.log(2 * math.pi), rel=1e-14)
    assert float(log_normalizer(0.0, 3)) == pytest.approx(math.log(4 * math.pi), rel=1e-14)


@given(st.integers(2, 40), st.floats(0.1, 500.0))
def test_scipy_agrees_where_it_works(d: int, kappa: float) -> None:
    nu = d / 2 - 1
    expected = d / 2 * math.log(2 * math.pi) + math.log(ive(nu, kappa)) + kappa - nu * math.log(kappa)
    assert float(log_normalizer(kappa, d)) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@given(dimensions, kappas)
def test_the_ratio_lies_between_the_bounds_of_amos(d: int, kappa: float) -> None:
    ratio, middle = float(bessel_ratio(kappa, d)), (d - 1) / 2
    assert kappa / (middle + math.hypot(middle + 1, kappa)) <= ratio * (1 + 1e-14) + 1e-300
    assert ratio <= kappa / (middle + math.hypot(middle, kappa)) * (1 + 1e-14)


@given(dimensions, st.floats(1e-3, 1e4))
def test_the_ratio_is_the_slope_of_the_log_normalizer(d: int, kappa: float) -> None:
    step = 1e-4 * max(kappa, 1e-2)
    rise = float(log_normalizer(kappa + step, d) - log_normalizer(kappa - step, d)) / (2 * step)
    rounding = 1e-13 * abs(float(log_normalizer(kappa, d))) / step
    assert float(bessel_ratio(kappa, d)) == pytest.approx(rise, rel=1e-4, abs=1e-8 + rounding)


def test_arrays_keep_their_shape() -> None:
    grid = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    assert log_normalizer(grid, 7).shape == bessel_ratio(grid, 7).shape == (2, 3)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ShapeError, match="kappa first"):
        log_normalizer(-1.0, 3)
    with pytest.raises(ShapeError, match="dimension 1"):
        bessel_ratio(1.0, 1)
    with pytest.raises(NotFiniteError):
        bessel_ratio(np.nan, 3)
