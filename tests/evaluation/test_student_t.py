"""Student's t against scipy and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tag2box.errors import ShapeError
from tag2box.evaluation.student_t import student_t_quantile


@given(st.integers(1, 100_000), st.sampled_from([0.5, 0.6, 0.9, 0.95, 0.975, 0.995, 0.9995]))
def test_quantiles_agree_with_scipy(degrees: int, probability: float) -> None:
    expected = float(stats.t.ppf(probability, degrees))
    assert student_t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_one_degree_by_hand() -> None:
    assert student_t_quantile(0.975, 1) == pytest.approx(math.tan(0.475 * math.pi))
    assert student_t_quantile(0.75, 1) == pytest.approx(1.0)


@pytest.mark.parametrize(("probability", "degrees"), [(0.4, 3), (1.0, 3), (float("nan"), 3), (0.9, 0)])
def test_arguments_out_of_range_are_refused(probability: float, degrees: float) -> None:
    with pytest.raises(ShapeError):
        student_t_quantile(probability, degrees)
