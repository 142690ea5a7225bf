"""The models of the ablation."""

from __future__ import annotations

from functools import partial

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from samples import random_bag, random_bags, random_units
from tag2box.methods.localizers import (
    NO_BACKGROUND,
    GaussianForeground,
    GaussianMil,
    VmfBackground,
    logits,
)
from tag2box.methods.localizers.foregrounds import gaussian_logits, half_squares
from tag2box.methods.view import raw_features, tukey_features, unit_features
from tag2box.rows import Directions
from tag2box.sphere import VonMisesFisher
from tag2box.types import ProposalBag

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.floats(0.2, 3.0))
def test_on_unit_vectors_a_gaussian_e_step_is_a_vmf_e_step(seed: int, sigma: float) -> None:
    """Why the ablation needs unnormalised features: |x|² and |θ|² cancel in the softmax."""
    rng = np.random.default_rng(seed)
    features, mean = random_units(rng, 12, 6), 0.7 * random_units(rng, 1, 6)[0]
    length = float(np.linalg.norm(mean))
    gaussian = softmax(gaussian_logits(features, mean, sigma))
    vmf = softmax(length / sigma**2 * (features @ (mean / length)))
    np.testing.assert_allclose(gaussian, vmf, rtol=1e-9)


@given(seeds, st.floats(0.2, 3.0))
def test_the_foreground_and_what_the_view_subtracts_are_the_gaussian(seed: int, sigma: float) -> None:
    rng = np.random.default_rng(seed)
    raw, mean = 3.0 * rng.standard_normal((12, 6)), rng.standard_normal(6)
    found = logits(GaussianForeground(mean, sigma), Directions.of(raw, 6, np.ones(12))) - half_squares(raw, sigma)
    np.testing.assert_allclose(found, gaussian_logits(raw, mean, sigma), atol=1e-9 / sigma**2)


def test_on_raw_features_it_is_not() -> None:
    rng = np.random.default_rng(0)
    raw, mean = 3.0 * random_units(rng, 12, 6) * rng.uniform(0.5, 2.0, size=(12, 1)), random_units(rng, 1, 6)[0]
    gaussian, vmf = softmax(gaussian_logits(raw, mean, 1.0)), softmax(raw @ mean)
    assert np.abs(gaussian - vmf).max() > 0.1


@given(seeds, st.floats(0.3, 3.0), st.sampled_from([raw_features, unit_features]))
def test_the_likelihood_never_falls(seed: int, sigma: float, features: object) -> None:
    background = VmfBackground(VonMisesFisher(np.eye(5)[0], 2.0))
    found = GaussianMil(sigma, background, features=features).solve(random_bags(seed), np.random.default_rng(0))  # type: ignore[arg-type]
    likelihoods = np.array([step.likelihood for step in found.steps])
    assert (np.diff(likelihoods) >= -1e-9 * np.abs(likelihoods[1:])).all()


def test_one_step_by_the_definition() -> None:
    bags = random_bags(1)
    steps = GaussianMil(0.8, NO_BACKGROUND, max_steps=1).solve(bags, np.random.default_rng(0)).steps
    theta = np.mean([bag.features[0].astype(float) * bag.norms[0] for bag in bags], axis=0)
    means = []
    for bag in bags:
        raw = bag.features.astype(float) * bag.norms[:, None]
        weights = np.exp(-((raw - theta) ** 2).sum(axis=1) / (2 * 0.8**2))
        means.append(weights @ raw / weights.sum())
    np.testing.assert_allclose(steps[0].foreground.mean, theta, rtol=1e-6)
    np.testing.assert_allclose(steps[1].foreground.mean, np.mean(means, axis=0), rtol=1e-6)


def test_normalized_scores_are_log_densities() -> None:
    bag = random_bag(np.random.default_rng(3), d=2)
    found = GaussianMil(0.5, NO_BACKGROUND, features=unit_features).solve(random_bags(2, d=2), np.random.default_rng(0))
    apart = ((bag.features.astype(float) - found.foreground.mean) ** 2).sum(axis=1)
    expected = -apart / (2 * 0.25) - np.log(2 * np.pi * 0.25)
    np.testing.assert_allclose(found.score(bag, normalized=True), expected, rtol=1e-6)


def test_feature_maps() -> None:
    bag = ProposalBag.from_raw("a", [[0, 0, 1, 1]], [[3.0, 4.0]], [0.5])
    np.testing.assert_allclose(unit_features(bag), [[0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(raw_features(bag), [[3.0, 4.0]], rtol=1e-6)
    np.testing.assert_allclose(tukey_features(bag), [[3**0.5, 2.0]], rtol=1e-6)
    np.testing.assert_allclose(partial(tukey_features, power=2.0)(bag), [[9.0, 16.0]], rtol=1e-6)


def test_the_power_transform_keeps_signs() -> None:
    bag = ProposalBag.from_raw("a", [[0, 0, 1, 1]], [[-9.0, 4.0]], [0.5])
    np.testing.assert_allclose(tukey_features(bag), [[-3.0, 2.0]], rtol=1e-6)
