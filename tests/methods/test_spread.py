"""The space in which base features scatter alike: by the definition (4.2), there and back, and worked out once."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_bag, random_bags, random_units, unit
from tag2box.arrays import Array
from tag2box.errors import InputError, ShapeError
from tag2box.methods.localizers import NO_BACKGROUND, VmfMil
from tag2box.methods.spread import Spread
from tag2box.types import ProposalBag

D = 5
seeds = st.integers(0, 2**32 - 1)


def some_spread(seed: int = 0, *, loud: float = 1.0) -> Spread:
    """With a mean, and with a first axis that is louder than the others."""
    rng = np.random.default_rng(seed)
    axes = rng.standard_normal((D, D))
    axes[0] *= loud
    return Spread(0.1 * rng.standard_normal(D), np.cov(rng.standard_normal((60, D)) @ axes, rowvar=False))


def root_of_inverse(spread: Spread) -> Array:
    """(d, d), the W of (4.2), one axis after the other."""
    values, vectors = np.linalg.eigh(spread.covariance)
    ridge = sum(values) / len(values)
    found = np.zeros((D, D))
    for value, axis in zip(values, vectors.T, strict=True):
        found += np.outer(axis, axis) / np.sqrt(value + ridge)
    return found


@given(seeds)
def test_the_matrix_is_the_root_of_the_inverse(seed: int) -> None:
    spread = some_spread(seed, loud=5.0)
    whitening = spread.whitening(None)
    ridged = spread.covariance + np.trace(spread.covariance) / D * np.eye(D)
    np.testing.assert_allclose(whitening.matrix @ ridged @ whitening.matrix, np.eye(D), atol=1e-8)
    np.testing.assert_allclose(whitening.matrix, root_of_inverse(spread), atol=1e-8)
    np.testing.assert_allclose(whitening.matrix @ whitening.inverse, np.eye(D), atol=1e-8)


@pytest.mark.parametrize("center", [None, np.full(D, 0.2)])
@given(seeds)
def test_a_bag_by_the_definition(center: Array | None, seed: int) -> None:
    bag, spread = random_bag(np.random.default_rng(seed)), some_spread(seed)
    seen = spread.whitening(center).bag(bag)
    for row, found in zip(bag.features.astype(np.float64), seen.features, strict=True):
        moved = row if center is None else unit(row - center)
        np.testing.assert_allclose(found, unit(root_of_inverse(spread) @ (moved - spread.mean)), atol=2e-4)
    np.testing.assert_array_equal(seen.boxes, bag.boxes)
    np.testing.assert_array_equal(seen.objectness, bag.objectness)


@given(seeds)
def test_no_axis_is_louder_than_one_and_the_quiet_ones_gain(seed: int) -> None:
    spread = some_spread(seed, loud=20.0)
    matrix = spread.whitening(None).matrix
    before = np.linalg.eigvalsh(spread.covariance)
    after = np.linalg.eigvalsh(matrix @ spread.covariance @ matrix)
    assert after.max() < 1.0
    assert after.min() / after.max() > before.min() / before.max()
    assert (np.diff(after) >= -1e-12).all()  # and none overtakes another


@given(seeds)
def test_a_direction_comes_back_from_there(seed: int) -> None:
    whitening, directions = some_spread(seed).whitening(None), random_units(np.random.default_rng(seed), 3, D)
    there = unit(directions @ whitening.matrix)
    np.testing.assert_allclose(whitening.back(there), directions, atol=1e-8)


def test_no_direction_stays_none() -> None:
    assert some_spread().whitening(None).back(np.zeros((2, D))).tolist() == [[0.0] * D] * 2


def test_where_everything_scatters_alike_only_the_mean_goes() -> None:
    bag = random_bag(np.random.default_rng(0))
    whitening = Spread(np.full(D, 0.1), 0.3 * np.eye(D)).whitening(None)
    np.testing.assert_allclose(whitening.bag(bag).features, unit(bag.features.astype(np.float64) - 0.1), atol=1e-5)
    directions = random_units(np.random.default_rng(1), 2, D)
    np.testing.assert_allclose(whitening.back(directions), directions)


def test_a_region_that_is_the_mean_is_like_nothing() -> None:
    bag = random_bag(np.random.default_rng(0))
    spread = Spread(bag.features[3].astype(np.float64), np.eye(D))
    seen = spread.whitening(None).bag(bag).features
    np.testing.assert_array_equal(seen[3], np.zeros(D))
    np.testing.assert_allclose(np.linalg.norm(np.delete(seen, 3, axis=0), axis=1), 1.0, atol=1e-6)


def test_base_regions_that_do_not_scatter_at_all_are_no_problem() -> None:
    seen = Spread(np.zeros(D), np.zeros((D, D))).whitening(None).bag(random_bag(np.random.default_rng(0)))
    assert np.isfinite(seen.features).all()


def copy_of(bag: ProposalBag) -> ProposalBag:
    return ProposalBag(bag.image_id, bag.boxes, bag.features, bag.objectness, bag.norms)


def test_a_bag_is_worked_out_once_and_forgotten_with_it() -> None:
    whitening, bag = some_spread().whitening(None), random_bag(np.random.default_rng(0))
    again, other = copy_of(bag), random_bag(np.random.default_rng(1))
    assert whitening.bag(bag) is whitening.bag(bag)
    assert whitening.bag(again) is not whitening.bag(bag)  # another bag, whatever is in it
    assert not np.allclose(whitening.bag(other).features, whitening.bag(bag).features)
    assert some_spread(1).whitening(None).bag(bag) is not whitening.bag(bag)
    kept, seen = weakref.ref(bag), weakref.ref(whitening.bag(bag))
    del bag
    gc.collect()
    assert kept() is None
    assert seen() is None


def test_a_bag_of_another_extractor_is_refused() -> None:
    whitening = some_spread().whitening(None)
    with pytest.raises(ShapeError, match="features of 6 dimensions, the space of base regions has 5"):
        whitening.bag(random_bag(np.random.default_rng(0), d=6))


def test_em_in_that_space_is_em_on_bags_that_were_brought_there() -> None:
    bags, query = random_bags(3), random_bag(np.random.default_rng(9))
    center = np.full(D, 0.1)
    whitening = some_spread(loud=5.0).whitening(center)
    inside = VmfMil(6.0, NO_BACKGROUND, center=center, space=whitening)
    found = inside.solve(bags, np.random.default_rng(0))
    brought = VmfMil(6.0, NO_BACKGROUND).solve([whitening.bag(bag) for bag in bags], np.random.default_rng(0))
    np.testing.assert_array_equal(found.foreground.theta, brought.foreground.theta)
    np.testing.assert_array_equal(found.score(query), brought.score(whitening.bag(query)))
    there = found.foreground.theta[None]
    np.testing.assert_array_equal(inside.among_centered(there), whitening.back(there))


@pytest.mark.parametrize(
    ("mean", "covariance"), [(np.zeros(3), np.eye(4)), (np.zeros((2, 2)), np.eye(2)), (np.full(2, np.nan), np.eye(2))]
)
def test_what_is_no_spread_is_refused(mean: Array, covariance: Array) -> None:
    with pytest.raises(InputError):
        Spread(mean, covariance)


@pytest.mark.parametrize("center", [None, np.full(D, 0.2)])
@given(seeds)
def test_rows_alone_are_seen_as_those_of_a_bag(center: Array | None, seed: int) -> None:
    bag, whitening = random_bag(np.random.default_rng(seed)), some_spread(seed).whitening(center)
    np.testing.assert_allclose(whitening.lens.seen(bag.features)[0], whitening.bag(bag).features, atol=1e-6)


@given(seeds)
def test_a_direction_comes_back_from_where_it_went(seed: int) -> None:
    directions = random_units(np.random.default_rng(seed), 3, D)
    whitening = some_spread(seed, loud=5.0).whitening(None)
    np.testing.assert_allclose(whitening.back(whitening.forth(directions)), directions, atol=1e-7)
    expected = unit(root_of_inverse(some_spread(seed, loud=5.0)) @ directions[0])
    np.testing.assert_allclose(whitening.forth(directions)[0], expected, atol=1e-7)
