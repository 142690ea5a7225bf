"""The rules for kappa against mpmath and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import DIMENSIONS, exact_inverse, exact_ratio
from tag2box.errors import NotFiniteError, ShapeError
from tag2box.sphere import (
    KAPPA_RULES,
    bessel_ratio,
    kappa_along,
    kappa_exact,
    kappa_mardia_jupp,
    kappa_rational,
    kappa_series,
)

lengths = st.floats(0.0, 0.999)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_exact_kappa_is_within_1e_9_of_mpmath(d: int) -> None:
    for kappa in [10.0**power for power in range(-3, 6)]:
        r = float(exact_ratio(kappa, d))
        exact = exact_inverse(r, d, kappa)
        assert abs((float(kappa_exact(r, d)) - exact) / exact) < 1e-9


@given(st.integers(2, 4096), st.floats(1e-3, 1e4))
def test_exact_kappa_undoes_the_bessel_ratio(d: int, kappa: float) -> None:
    assert float(kappa_exact(bessel_ratio(kappa, d), d)) == pytest.approx(kappa, rel=1e-7)


def test_rules_by_hand() -> None:
    r, d = 0.5, 8
    assert float(kappa_series(r, d, order=0)) == 4.0
    assert float(kappa_series(r, d, order=1)) == 4.0 * 1.25
    assert float(kappa_series(r, d, order=2)) == 4.0 * (1 + 0.25 + 0.0625)
    assert float(kappa_series(r, d, order=3)) == 4.0 * (1 + 0.25 + 0.0625 + 0.015625)
    assert float(kappa_rational(r, d)) == pytest.approx(4.0 / 0.75)
    assert float(kappa_mardia_jupp(r, d)) == pytest.approx(4.0 * (1 + 0.8 * 0.25 + 64 * 16 / (100 * 12) * 0.0625))


def test_concentration_along_a_few_axes_by_hand() -> None:
    found = kappa_along(np.array([0.0, 0.5, 0.8, 1.0]), 512, axes=12)
    np.testing.assert_allclose(found, [0.0, 8.0, 12 * 0.8 / 0.36, 48.0])


@given(lengths, st.integers(2, 4096))
def test_higher_orders_are_larger_and_end_at_the_rational(r: float, d: int) -> None:
    orders = [float(kappa_series(r, d, order=order)) for order in (0, 1, 2, 3, 30)]
    assert (np.diff(orders) >= -1e-15 * orders[-1]).all()
    assert orders[-1] <= float(kappa_rational(r, d)) * (1 + 1e-12)


@given(st.floats(0.0, 0.9))
def test_in_high_dimensions_the_rational_is_close_to_exact(r: float) -> None:
    assert float(kappa_exact(r, 512)) == pytest.approx(float(kappa_rational(r, 512)), rel=0.01)


@pytest.mark.parametrize("name", KAPPA_RULES)
def test_every_rule_is_zero_at_zero_finite_at_one_and_works_on_arrays(name: str) -> None:
    rule = KAPPA_RULES[name]
    assert float(rule(0.0, 64)) == 0.0
    assert np.isfinite(float(rule(1.0, 64)))
    found = rule(np.array([0.1, 0.5, 0.9]), 64)
    assert found.tolist() == [float(rule(r, 64)) for r in (0.1, 0.5, 0.9)]
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("name", KAPPA_RULES)
def test_a_length_outside_0_to_1_is_refused(name: str) -> None:
    with pytest.raises(ShapeError, match="between 0 and 1"):
        KAPPA_RULES[name](1.5, 64)
    with pytest.raises(ShapeError):
        KAPPA_RULES[name](-0.1, 64)
    with pytest.raises(NotFiniteError):
        KAPPA_RULES[name](np.nan, 64)
