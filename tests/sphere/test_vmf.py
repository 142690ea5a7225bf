"""The vMF distribution: density, fit and samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from samples import random_units, unit
from tag2box.errors import NotUnitLengthError, ShapeError
from tag2box.sphere import VonMisesFisher, bessel_ratio, direction_and_length, fit_vmf, kappa_series, log_normalizer

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("d", [2, 3, 8])
@pytest.mark.parametrize("kappa", [0.5, 20.0])
def test_density_agrees_with_scipy_where_that_works(d: int, kappa: float) -> None:
    rng = np.random.default_rng(0)
    mean, points = random_units(rng, 1, d)[0], random_units(rng, 5, d)
    expected = stats.vonmises_fisher(mean, kappa).logpdf(points)
    np.testing.assert_allclose(VonMisesFisher(mean, kappa).log_density(points), expected, rtol=1e-9)


@pytest.mark.parametrize("kappa", [0.0, 1.0, 40.0])
def test_density_integrates_to_one(kappa: float) -> None:
    def along(cosine: float) -> float:
        density = VonMisesFisher(np.array([1.0, 0.0, 0.0]), kappa)
        point = np.array([[cosine, np.sqrt(1 - cosine**2), 0.0]])
        return float(2 * np.pi * np.exp(density.log_density(point)[0]))

    assert integrate.quad(along, -1.0, 1.0)[0] == pytest.approx(1.0)


def test_no_concentration_is_uniform() -> None:
    points = random_units(np.random.default_rng(0), 4, 16)
    uniform = VonMisesFisher(points[0], 0.0).log_density(points)
    np.testing.assert_allclose(uniform, -float(log_normalizer(0.0, 16)), rtol=1e-12)


@pytest.mark.parametrize(("d", "kappa"), [(2, 0.0), (2, 5.0), (3, 1e5), (128, 50.0), (512, 300.0), (4096, 1e5)])
def test_samples_have_the_right_length_and_spread(d: int, kappa: float) -> None:
    rng = np.random.default_rng(1)
    vmf = VonMisesFisher(random_units(rng, 1, d)[0], kappa)
    points = vmf.sample(4000, rng)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0, rtol=1e-12)
    cosines = points @ vmf.mean
    error = cosines.std() / np.sqrt(len(cosines))
    assert abs(cosines.mean() - float(bessel_ratio(kappa, d))) < 5 * error


@pytest.mark.parametrize(("d", "kappa"), [(2, 3.0), (3, 1.0), (5, 20.0), (64, 30.0)])
def test_sampled_cosines_follow_their_distribution(d: int, kappa: float) -> None:
    vmf = VonMisesFisher(np.eye(d)[0], kappa)
    cosines = vmf.sample(60_000, np.random.default_rng(2))[:, 0]
    angles = np.linspace(0.0, np.pi, 20001)
    density = np.exp(kappa * (np.cos(angles) - 1)) * np.sin(angles) ** (d - 2)
    below = integrate.cumulative_trapezoid(density, angles, initial=0.0)
    test = stats.kstest(np.arccos(np.clip(cosines, -1, 1)), lambda angle: np.interp(angle, angles, below / below[-1]))
    assert test.pvalue > 1e-3


def test_samples_point_evenly_around_the_mean() -> None:
    points = VonMisesFisher(np.eye(4)[0], 10.0).sample(8000, np.random.default_rng(3))
    around = unit(points[:, 1:])
    assert np.linalg.norm(around.mean(axis=0)) < 0.05


@pytest.mark.parametrize(("d", "kappa"), [(3, 10.0), (128, 100.0), (512, 400.0)])
def test_fit_recovers_what_was_sampled(d: int, kappa: float) -> None:
    rng = np.random.default_rng(4)
    planted = VonMisesFisher(random_units(rng, 1, d)[0], kappa)
    fitted = fit_vmf(planted.sample(20_000, rng))
    assert fitted.mean @ planted.mean > 0.99
    assert fitted.kappa == pytest.approx(kappa, rel=0.05)


@given(seeds)
def test_no_neighbour_is_likelier_than_the_fit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, weights = random_units(rng, 12, 4), rng.uniform(0.1, 1.0, size=12)
    fit = fit_vmf(points, weights)
    best = weights @ fit.log_density(points)
    for factor in (0.9, 1.1):
        assert weights @ VonMisesFisher(fit.mean, factor * fit.kappa).log_density(points) <= best
    tilted = unit(fit.mean + 0.1 * rng.standard_normal(4))
    assert weights @ VonMisesFisher(tilted, fit.kappa).log_density(points) <= best + 1e-12


def test_weights_count_like_repeats() -> None:
    points = random_units(np.random.default_rng(5), 3, 6)
    repeated = fit_vmf(points[[0, 0, 1, 2, 2, 2]])
    weighted = fit_vmf(points, np.array([2.0, 1.0, 3.0]))
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-12)
    assert weighted.kappa == pytest.approx(repeated.kappa)


def test_another_rule_changes_only_kappa() -> None:
    points = random_units(np.random.default_rng(6), 9, 6)
    shrunk = fit_vmf(points, rule=lambda r, d: kappa_series(r, d, order=0))
    assert shrunk.kappa == pytest.approx(6 * np.linalg.norm(points.mean(axis=0)))
    np.testing.assert_array_equal(shrunk.mean, fit_vmf(points).mean)


def test_a_zero_vector_has_a_stated_direction() -> None:
    direction, length = direction_and_length(np.zeros(3))
    assert direction.tolist() == [1.0, 0.0, 0.0]
    assert length == 0.0
    assert fit_vmf(np.array([[1.0, 0.0], [-1.0, 0.0]])).kappa == 0.0


def test_a_mean_must_be_a_direction() -> None:
    with pytest.raises(NotUnitLengthError):
        VonMisesFisher(np.array([2.0, 0.0]), 1.0)


@pytest.mark.parametrize("kappa", [-1.0, np.nan, np.inf])
def test_a_concentration_must_be_a_number(kappa: float) -> None:
    with pytest.raises(ShapeError, match="kappa is"):
        VonMisesFisher(np.eye(3)[0], kappa)


def test_points_and_weights_are_checked() -> None:
    points = np.eye(3)
    with pytest.raises(NotUnitLengthError, match="points"):
        fit_vmf(0.5 * points)
    with pytest.raises(ShapeError, match="the number of points is 0"):
        fit_vmf(points[:0])
    with pytest.raises(ShapeError, match="the sum of the weights is 0"):
        fit_vmf(points, np.zeros(3))
    with pytest.raises(ShapeError, match="the smallest weight is -1"):
        fit_vmf(points, np.array([-1.0, 1.0, 1.0]))
