"""What every localizer must do, whatever it believes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from samples import random_bags
from tag2box.errors import InputError, NotFiniteError, TooFewImagesError
from tag2box.methods.learners import Localizer
from tag2box.methods.localizers import (
    NO_BACKGROUND,
    GaussianMil,
    ObjectnessBackground,
    SceneMil,
    VmfMil,
    background_only,
    given,
    random_regions,
)
from tag2box.sphere import KAPPA_RULES

LOCALIZERS: dict[str, Callable[[], Localizer]] = {
    "vmf": lambda: VmfMil(10.0, NO_BACKGROUND),
    "vmf, random start": lambda: VmfMil(10.0, NO_BACKGROUND, start=random_regions),
    "vmf, background only": lambda: VmfMil(10.0, ObjectnessBackground(), start=background_only, max_steps=0),
    "vmf, order 0": lambda: VmfMil(None, NO_BACKGROUND, kappa_rule=KAPPA_RULES["order-0"]),
    "gaussian": lambda: GaussianMil(0.5, NO_BACKGROUND),
    "scenes": lambda: SceneMil(VmfMil(10.0, NO_BACKGROUND), 2.0, 3.0, 2.0),
}


@pytest.fixture(params=LOCALIZERS)
def localizer(request: pytest.FixtureRequest) -> Localizer:
    return LOCALIZERS[request.param]()


def test_one_row_of_each_bag_with_weights_that_sum_to_one(localizer: Localizer) -> None:
    bags = random_bags(0, images=6)
    found = localizer.learn(bags, [], np.random.default_rng(0)).localization
    assert len(found.rows) == len(found.weights) == 6
    for bag, row, weights in zip(bags, found.rows, found.weights, strict=True):
        assert 0 <= row < len(bag)
        assert weights.shape == (len(bag),)
        assert weights.sum() == pytest.approx(1.0)
        assert weights[row] == weights.max()
    assert ((found.doubt >= 0) & (found.doubt <= 1)).all()


def test_the_same_generator_gives_the_same_answer(localizer: Localizer) -> None:
    bags = random_bags(1, images=5)
    first, second = (localizer.learn(bags, [], np.random.default_rng(7)).localization for _ in range(2))
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_array_equal(first.scores, second.scores)


def test_bags_are_left_as_they_were(localizer: Localizer) -> None:
    bags = random_bags(2)
    before = [bag.features.copy() for bag in bags]
    localizer.learn(bags, [], np.random.default_rng(0))
    for bag, features in zip(bags, before, strict=True):
        np.testing.assert_array_equal(bag.features, features)


@pytest.mark.parametrize("images", [0, 1])
def test_one_image_has_nothing_in_common(localizer: Localizer, images: int) -> None:
    with pytest.raises(TooFewImagesError, match=f"in {images} image"):
        localizer.learn(random_bags(3, images=images), [], np.random.default_rng(0))


def test_images_of_different_extractors_are_refused(localizer: Localizer) -> None:
    with pytest.raises(InputError):
        localizer.learn(random_bags(4, 2, d=5) + random_bags(4, 2, d=6), [], np.random.default_rng(0))


@pytest.mark.parametrize(
    "make",
    [
        lambda: VmfMil(None, NO_BACKGROUND),
        lambda: VmfMil(-3.0, NO_BACKGROUND),
        lambda: VmfMil(np.nan, NO_BACKGROUND),
        lambda: VmfMil(3.0, NO_BACKGROUND, background_weight=np.inf),
        lambda: VmfMil(3.0, NO_BACKGROUND, max_steps=-1),
        lambda: GaussianMil(0.0, NO_BACKGROUND),
        lambda: GaussianMil(np.nan, NO_BACKGROUND),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_birth(make: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        make()


def test_a_start_that_is_not_finite_is_refused() -> None:
    with pytest.raises(NotFiniteError, match="start of EM"):
        VmfMil(3.0, NO_BACKGROUND, start=given([np.nan, 0, 0, 0, 0])).learn(
            random_bags(5), [], np.random.default_rng(0)
        )


@pytest.mark.parametrize("name", KAPPA_RULES)
def test_the_same_photo_five_times_is_no_problem(name: str) -> None:
    for seed in range(20):
        bag = random_bags(seed, images=1)[0]
        VmfMil(None, NO_BACKGROUND, kappa_rule=KAPPA_RULES[name]).learn([bag] * 5, [], np.random.default_rng(0))
