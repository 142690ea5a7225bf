"""A bag checks everything at birth."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from samples import random_bag, remade
from tag2box.errors import EmptyBagError, NotFiniteError, NotUnitLengthError, ShapeError
from tag2box.rows import Lens
from tag2box.types import ProposalBag


@pytest.fixture
def bag() -> ProposalBag:
    return random_bag(np.random.default_rng(0))


def test_a_bag_knows_its_size_and_dimension(bag: ProposalBag) -> None:
    assert len(bag) == 7
    assert bag.dimension == 5
    assert bag.size == (100.0, 100.0)


def test_raw_features_come_back_as_direction_times_length() -> None:
    raw = np.array([[3.0, 4.0], [0.0, 0.5]])
    bag = ProposalBag.from_raw("a", [[0, 0, 9, 9], [1, 1, 2, 2]], raw, [0.1, 0.2])
    np.testing.assert_allclose(bag.features * bag.norms[:, None], raw, rtol=1e-6)


def test_a_bag_is_frozen(bag: ProposalBag) -> None:
    with pytest.raises(FrozenInstanceError):
        bag.image_id = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        bag.features[0, 0] = 1.0


def test_features_not_of_unit_length_are_refused(bag: ProposalBag) -> None:
    with pytest.raises(NotUnitLengthError, match="features of image 'image'"):
        remade(bag, features=2 * bag.features)


@pytest.mark.parametrize("name", ["boxes", "features", "objectness", "norms"])
def test_nan_is_refused_by_name(bag: ProposalBag, name: str) -> None:
    broken = getattr(bag, name).copy()
    broken[3] = np.nan
    with pytest.raises(NotFiniteError, match=f"{name} of image 'image'"):
        remade(bag, **{name: broken})


def test_an_empty_bag_is_refused() -> None:
    with pytest.raises(EmptyBagError, match="image 'a' has no regions"):
        ProposalBag("a", np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0), np.zeros(0))
    with pytest.raises(EmptyBagError, match="image 'b' has no regions"):
        ProposalBag.from_raw("b", [], [], [])


def test_features_are_scaled_to_exactly_one(bag: ProposalBag) -> None:
    bent = remade(bag, features=bag.features * np.float32(1.0009))
    np.testing.assert_allclose(np.linalg.norm(bent.features, axis=1), 1.0, rtol=2e-7)


def test_flat_features_negative_lengths_and_images_without_size_are_refused(bag: ProposalBag) -> None:
    with pytest.raises(ShapeError, match="features of image 'a' has shape"):
        ProposalBag.from_raw("a", [[0, 0, 1, 1]], [1.0, 0.0], [0.5])
    with pytest.raises(ShapeError, match="norms of image"):
        remade(bag, norms=-bag.norms)
    with pytest.raises(ShapeError, match="whole image"):
        remade(bag, boxes=np.zeros_like(bag.boxes))


def test_arrays_of_different_length_are_refused(bag: ProposalBag) -> None:
    for name in ("features", "objectness", "norms"):
        with pytest.raises(ShapeError, match=name):
            remade(bag, **{name: getattr(bag, name)[:-1]})


def test_objectness_is_a_probability(bag: ProposalBag) -> None:
    with pytest.raises(ShapeError, match="apply the sigmoid"):
        remade(bag, objectness=bag.objectness + 1.0)


def test_row_0_must_be_the_whole_image(bag: ProposalBag) -> None:
    with pytest.raises(ShapeError, match="whole image"):
        remade(bag, boxes=bag.boxes[::-1])
    outside = bag.boxes.copy()
    outside[4, 2] = 101.0
    with pytest.raises(ShapeError, match="row 4"):
        remade(bag, boxes=outside)


def test_a_lens_leaves_everything_else(bag: ProposalBag) -> None:
    center = np.full(bag.dimension, 0.1)
    seen = bag.through(Lens(center))
    moved = bag.features - center
    np.testing.assert_allclose(seen.norms, np.linalg.norm(moved, axis=1), rtol=1e-6)
    np.testing.assert_allclose(seen.features * seen.norms[:, None], moved, atol=1e-6)
    for name in ("boxes", "objectness"):
        assert getattr(seen, name) is getattr(bag, name)
    assert seen.image_id == bag.image_id
    assert bag.through(Lens()).norms is bag.norms


def test_without_its_lens_a_bag_is_as_it_was(bag: ProposalBag) -> None:
    seen = bag.through(Lens(np.full(bag.dimension, 0.1)))
    assert not np.allclose(seen.features, bag.features)
    np.testing.assert_allclose(seen.plain().features, bag.features, rtol=1e-6)
    assert bag.plain() is bag


def test_halves_are_kept_as_they_came(bag: ProposalBag) -> None:
    halves = bag.features.astype(np.float16)
    kept = remade(bag, features=halves)
    assert kept.directions.rows.dtype == np.float16
    np.testing.assert_array_equal(kept.directions.rows, halves)
    np.testing.assert_allclose(np.linalg.norm(kept.features, axis=1), 1.0, rtol=2e-7)
