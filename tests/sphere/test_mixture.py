"""Mixtures of vMF distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samples import random_units
from tag2box.errors import NotUnitLengthError, ShapeError
from tag2box.sphere import VmfMixture, VonMisesFisher, fit_vmf, fit_vmf_mixture, responsibilities

seeds = st.integers(0, 2**32 - 1)


def planted_clusters(seed: int, d: int = 32, kappa: float = 200.0) -> tuple[list[VonMisesFisher], np.ndarray]:
    rng = np.random.default_rng(seed)
    clusters = [VonMisesFisher(mean, kappa) for mean in random_units(rng, 3, d)]
    return clusters, np.concatenate([c.sample(n, rng) for c, n in zip(clusters, (100, 200, 300), strict=True)])


def test_density_by_the_definition() -> None:
    rng = np.random.default_rng(0)
    means, points = random_units(rng, 2, 5), random_units(rng, 4, 5)
    mixture = VmfMixture(np.array([0.3, 0.7]), means, np.array([4.0, 9.0]))
    for point, found in zip(points, mixture.log_density(points), strict=True):
        parts = [
            share * math.exp(VonMisesFisher(mean, kappa).log_density(point[None])[0])
            for share, mean, kappa in zip((0.3, 0.7), means, (4.0, 9.0), strict=True)
        ]
        assert found == pytest.approx(math.log(sum(parts)))


def test_responsibilities_by_the_definition() -> None:
    rng = np.random.default_rng(1)
    mixture = VmfMixture(np.array([0.3, 0.7]), random_units(rng, 2, 5), np.array([4.0, 9.0]))
    points = random_units(rng, 4, 5)
    found = responsibilities(mixture, points)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    odds = mixture.log_joint(points)
    np.testing.assert_allclose(np.log(found[:, 0] / found[:, 1]), odds[:, 0] - odds[:, 1])


def test_one_component_is_a_plain_fit() -> None:
    points = random_units(np.random.default_rng(2), 30, 6)
    mixture = fit_vmf_mixture(points, 1, np.random.default_rng(0)).mixture
    plain = fit_vmf(points)
    np.testing.assert_allclose(mixture.means[0], plain.mean, rtol=1e-9)
    assert mixture.kappas[0] == pytest.approx(plain.kappa)


@given(seeds, st.integers(1, 5))
@settings(max_examples=30)
def test_the_likelihood_never_falls(seed: int, components: int) -> None:
    rng = np.random.default_rng(seed)
    fit = fit_vmf_mixture(random_units(rng, 40, 4), components, rng)
    assert (np.diff(fit.likelihoods) > -1e-9).all()


@pytest.mark.parametrize("tie_kappas", [False, True])
def test_planted_clusters_are_found_again(tie_kappas: bool) -> None:
    clusters, points = planted_clusters(3)
    mixture = fit_vmf_mixture(points, 3, np.random.default_rng(0), tie_kappas=tie_kappas).mixture
    order = np.argsort(mixture.shares)
    np.testing.assert_allclose(mixture.shares[order], [1 / 6, 2 / 6, 3 / 6], atol=1e-3)
    for place, cluster in zip(order, clusters, strict=True):
        assert mixture.means[place] @ cluster.mean > 0.99
        assert mixture.kappas[place] == pytest.approx(200.0, rel=0.1)
    assert (np.ptp(mixture.kappas) == 0) == tie_kappas


def test_a_mixture_is_likelier_than_one_vmf_on_clustered_points() -> None:
    _, points = planted_clusters(4)
    mixture = fit_vmf_mixture(points, 3, np.random.default_rng(0)).mixture
    assert mixture.log_density(points).mean() > fit_vmf(points).log_density(points).mean() + 1.0


def test_identical_points_and_empty_components_do_no_harm() -> None:
    same = np.tile(np.eye(4)[0], (10, 1))
    mixture = fit_vmf_mixture(same, 3, np.random.default_rng(0)).mixture
    assert np.isfinite(mixture.log_density(same)).all()
    assert mixture.shares.sum() == pytest.approx(1.0)


def test_more_components_than_points_are_refused() -> None:
    with pytest.raises(ShapeError, match="4 components was asked for with 3 points"):
        fit_vmf_mixture(np.eye(3), 4, np.random.default_rng(0))


def test_mixtures_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ShapeError, match="shares of the mixture sum to 5"):
        VmfMixture(np.array([2.0, 3.0]), np.eye(2), np.ones(2))
    with pytest.raises(ShapeError, match="the smallest kappa is -1"):
        VmfMixture(np.array([0.5, 0.5]), np.eye(2), np.array([-1.0, 1.0]))
    with pytest.raises(NotUnitLengthError):
        VmfMixture(np.array([0.5, 0.5]), np.full((2, 2), np.nan), np.ones(2))
    with pytest.raises(NotUnitLengthError):
        fit_vmf_mixture(7.0 * np.eye(3), 2, np.random.default_rng(0))
