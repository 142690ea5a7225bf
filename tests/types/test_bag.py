"""A bag checks everything at birth."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from samples import random_bag
from tag2box.errors import EmptyBagError, NotFiniteError, NotUnitLengthError, ShapeError
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
        replace(bag, features=2 * bag.features)


@pytest.mark.parametrize("name", ["boxes", "features", "objectness", "norms"])
def test_nan_is_refused_by_name(bag: ProposalBag, name: str) -> None:
    broken = getattr(bag, name).copy()
    broken[3] = np.nan
    with pytest.raises(NotFiniteError, match=f"{name} of image 'image'"):
        replace(bag, **{name: broken})


def test_an_empty_bag_is_refused() -> None:
    with pytest.raises(EmptyBagError, match="image 'a' has no regions"):
        ProposalBag("a", np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0), np.zeros(0))  # type: ignore[arg-type]
    with pytest.raises(EmptyBagError, match="image 'b' has no regions"):
        ProposalBag.from_raw("b", [], [], [])


def test_features_are_scaled_to_exactly_one(bag: ProposalBag) -> None:
    bent = replace(bag, features=bag.features * np.float32(1.0009))
    np.testing.assert_allclose(np.linalg.norm(bent.features, axis=1), 1.0, rtol=2e-7)


def test_flat_features_negative_lengths_and_images_without_size_are_refused(bag: ProposalBag) -> None:
    with pytest.raises(ShapeError, match="features of image 'a' has shape"):
        ProposalBag.from_raw("a", [[0, 0, 1, 1]], [1.0, 0.0], [0.5])
    with pytest.raises(ShapeError, match="norms of image"):
        replace(bag, norms=-bag.norms)
    with pytest.raises(ShapeError, match="whole image"):
        replace(bag, boxes=np.zeros_like(bag.boxes))


def test_arrays_of_different_length_are_refused(bag: ProposalBag) -> None:
    for name in ("features", "objectness", "norms"):
        with pytest.raises(ShapeError, match=name):
            replace(bag, **{name: getattr(bag, name)[:-1]})


def test_objectness_is_a_probability(bag: ProposalBag) -> None:
    with pytest.raises(ShapeError, match="apply the sigmoid"):
        replace(bag, objectness=bag.objectness + 1.0)


def test_row_0_must_be_the_whole_image(bag: ProposalBag) -> None:
    with pytest.raises(ShapeError, match="whole image"):
        replace(bag, boxes=bag.boxes[::-1])
    outside = bag.boxes.copy()
    outside[4, 2] = 101.0
    with pytest.raises(ShapeError, match="row 4"):
        replace(bag, boxes=outside)


def test_other_features_leave_everything_else(bag: ProposalBag) -> None:
    turned = bag.features[:, ::-1].copy()
    seen = bag.with_features(turned, 2.0 * bag.norms)
    np.testing.assert_array_equal(seen.features, turned)
    np.testing.assert_array_equal(seen.norms, 2.0 * bag.norms)
    for name in ("boxes", "objectness"):
        assert getattr(seen, name) is getattr(bag, name)
    assert seen.image_id == bag.image_id
    with pytest.raises(ValueError, match="read-only"):
        seen.features[0, 0] = 7.0


def test_one_more_region_comes_last(bag: ProposalBag) -> None:
    drawn = random_bag(np.random.default_rng(1), 2)
    longer = bag.with_last_row_of(drawn)
    assert len(longer) == len(bag) + 1
    for name in ("boxes", "features", "objectness", "norms"):
        np.testing.assert_array_equal(getattr(longer, name)[:-1], getattr(bag, name))
        np.testing.assert_array_equal(getattr(longer, name)[-1], getattr(drawn, name)[-1])
    ProposalBag(longer.image_id, longer.boxes, longer.features, longer.objectness, longer.norms)  # a bag like any other
    assert len(bag) == 7
