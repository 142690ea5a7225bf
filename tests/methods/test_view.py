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
    center_rows,
    raw_features,
    signed_power,
    tukey_features,
    unit_features,
    unit_rows,
)
from tag2box.sphere import VonMisesFisher


def test_centring_by_hand() -> None:
    rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    found, lengths = center_rows(rows, np.array([0.0, 0.5]))
    np.testing.assert_allclose(lengths, [1.25**0.5, 0.5])
    np.testing.assert_allclose(found, [[2 / 5**0.5, -1 / 5**0.5], [0.0, 1.0]])


def test_a_row_at_the_mean_keeps_its_direction() -> None:
    row = np.array([[0.6, 0.8]])
    found, lengths = center_rows(row, row[0])
    np.testing.assert_array_equal(found, row)
    assert lengths.tolist() == [0.0]


def test_rows_at_length_one_in_place_and_what_has_no_length_is_replaced() -> None:
    rows, otherwise = np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[9.0, 9.0], [0.6, 0.8]])
    found = unit_rows(rows, otherwise)
    assert found is rows
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.6, 0.8]])
    known = unit_rows(np.array([[3.0, 4.0]]), otherwise[:1], np.array([10.0]))  # whoever gives lengths is believed
    np.testing.assert_allclose(known, [[0.3, 0.4]])
    assert unit_rows(np.zeros((0, 2)), np.zeros((0, 2))).shape == (0, 2)


def test_no_mean_changes_nothing_and_a_wrong_one_is_refused() -> None:
    bag = random_bag(np.random.default_rng(0))
    assert center_bag(bag, None) is bag
    with pytest.raises(ShapeError, match="base mean"):
        center_bag(bag, np.zeros(4))
    with pytest.raises(NotFiniteError, match="base mean"):
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


def test_centring_undoes_a_common_offset() -> None:
    """Features crowded in a cone spread out again when the cone's middle is taken away."""
    rng = np.random.default_rng(2)
    offset = np.full(32, 2.0 / 32**0.5)
    crowded = unit(offset + random_units(rng, 400, 32))
    spread, _ = center_rows(crowded, crowded.mean(axis=0))
    assert np.linalg.norm(crowded.mean(axis=0)) > 0.8
    assert np.linalg.norm(spread.mean(axis=0)) < 0.1


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.7))
def test_centring_in_single_precision_is_that_in_double_to_a_millionth(seed: int, length: float) -> None:
    """A mean inside the sphere: no unit row comes closer to it than 0.3."""
    rng = np.random.default_rng(seed)
    rows, mean = random_units(rng, 20, 64).astype(np.float32), length * random_units(rng, 1, 64)[0]
    single, double = center_rows(rows, mean), center_rows(rows.astype(np.float64), mean)
    for found, exact in zip(single, double, strict=True):
        assert (str(found.dtype), str(exact.dtype)) == ("float32", "float64")
        np.testing.assert_allclose(found, exact, atol=1e-6)


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
