"""Centring by the base mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_bag, random_bags, random_units, unit
from tag2box.errors import NotFiniteError, ShapeError
from tag2box.methods.localizers import VmfBackground, VmfMil
from tag2box.methods.view import (
    center_bag,
    raw_features,
    signed_power,
    tukey_features,
    unit_features,
)
from tag2box.sphere import VonMisesFisher


def test_no_mean_changes_nothing_and_a_wrong_one_is_refused() -> None:
    bag = random_bag(np.random.default_rng(0))
    assert center_bag(bag, None) is bag
    with pytest.raises(ShapeError, match="base mean"):
        center_bag(bag, np.zeros(4))
    with pytest.raises(NotFiniteError, match="center of a lens"):
        center_bag(bag, np.array([0.0, np.nan, 0.0, 0.0, 0.0]))


def test_the_lengths_of_a_centred_bag_are_those_of_its_centred_features() -> None:
    bag, mean = random_bag(np.random.default_rng(0)), np.full(5, 0.1)
    centered = center_bag(bag, mean)
    np.testing.assert_allclose(centered.features * centered.norms[:, None], bag.features - mean, atol=1e-6)


def test_a_centred_model_is_a_plain_model_on_centred_bags() -> None:
    bags, mean = random_bags(0), 0.3 * random_units(np.random.default_rng(1), 1, 5)[0]
    background = VmfBackground(VonMisesFisher(unit(-mean), 2.0))
    inside = VmfMil(6.0, background, center=mean).solve(bags, np.random.default_rng(0))
    outside = VmfMil(6.0, background).solve([center_bag(bag, mean) for bag in bags], np.random.default_rng(0))
    np.testing.assert_allclose(inside.foreground.theta, outside.foreground.theta, rtol=1e-9)
    query = random_bag(np.random.default_rng(9))
    np.testing.assert_allclose(inside.score(query), outside.score(center_bag(query, mean)), rtol=1e-9)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 3.0))
def test_a_power_of_the_features_is_undone_by_its_inverse(seed: int, power: float) -> None:
    raw = np.random.default_rng(seed).uniform(-4.0, 4.0, size=(5, 3))
    np.testing.assert_allclose(signed_power(signed_power(raw, power), 1.0 / power), raw, rtol=1e-9)


def test_a_centred_bag_has_centred_features_of_every_kind() -> None:
    bag, mean = random_bag(np.random.default_rng(3)), np.full(5, 0.2)
    seen, moved = center_bag(bag, mean), bag.features.astype(np.float64) - mean
    np.testing.assert_allclose(raw_features(seen), moved, atol=1e-6)
    np.testing.assert_allclose(unit_features(seen), unit(moved), atol=1e-6)
    np.testing.assert_allclose(tukey_features(seen), np.sign(moved) * np.sqrt(np.abs(moved)), atol=1e-3)
