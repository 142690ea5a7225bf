"""Background scores by the definition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from samples import random_bag, random_bags, random_units
from tag2box.errors import InputError, ShapeError
from tag2box.methods.localizers import (
    GaussianBackground,
    MixtureBackground,
    NoBackground,
    ObjectnessBackground,
    OddsBackground,
    ScoredBackground,
    SummedBackground,
    VmfBackground,
    VmfMil,
    background_only,
    fit_gaussian_background,
)
from tag2box.rows import Lens
from tag2box.sphere import VmfMixture, VonMisesFisher, log_normalizer
from tag2box.types import ProposalBag


def test_another_score_sees_regions_as_they_are() -> None:
    rng = np.random.default_rng(1)
    bag, weights = random_bag(rng), rng.standard_normal(5)
    expected = -bag.features.astype(float) @ weights
    seen = bag.through(Lens(0.3 * random_units(rng, 1, 5)[0]))
    for each in (bag, seen):
        score = ScoredBackground(lambda bag: bag.directions.along(weights)).log_score(each)
        np.testing.assert_allclose(score, expected, rtol=1e-5, atol=1e-6)


def test_scores_by_the_definition() -> None:
    rng = np.random.default_rng(0)
    bag = random_bag(rng)
    x, raw = bag.features.astype(float), bag.features.astype(float) * bag.norms[:, None]
    mean = random_units(rng, 1, 5)[0]
    np.testing.assert_array_equal(NoBackground().log_score(bag), np.zeros(7))
    np.testing.assert_allclose(VmfBackground(VonMisesFisher(mean, 3.0)).log_score(bag), 3.0 * x @ mean)
    np.testing.assert_allclose(
        ObjectnessBackground(2.0, 1e-12).log_score(bag), np.log((1.0 - bag.objectness.astype(float)) ** 2), rtol=1e-6
    )
    np.testing.assert_allclose(
        GaussianBackground(mean, 0.5).log_score(bag), -2.0 * ((raw - mean) ** 2).sum(axis=1), rtol=1e-6
    )


def test_a_mixture_of_one_is_a_vmf_with_its_normalizer() -> None:
    bag = random_bag(np.random.default_rng(1))
    mean = random_units(np.random.default_rng(2), 1, 5)
    mixture = MixtureBackground(VmfMixture(np.ones(1), mean, np.array([3.0])))
    plain = VmfBackground(VonMisesFisher(mean[0], 3.0))
    np.testing.assert_allclose(mixture.log_score(bag), plain.log_score(bag) - float(log_normalizer(3.0, 5)))


def test_certain_objects_keep_a_finite_score() -> None:
    bag = random_bag(np.random.default_rng(3))
    certain = type(bag)(bag.image_id, bag.boxes, bag.features, np.ones_like(bag.objectness), bag.norms)
    assert np.isfinite(ObjectnessBackground().log_score(certain)).all()


def test_the_weight_scales_the_background() -> None:
    bags = random_bags(0)
    mean = random_units(np.random.default_rng(0), 1, 5)[0]
    weighted = VmfMil(5.0, VmfBackground(VonMisesFisher(mean, 8.0)), background_weight=0.5)
    halved = VmfMil(5.0, VmfBackground(VonMisesFisher(mean, 4.0)))
    found = [m.solve(bags, np.random.default_rng(0)).foreground.theta for m in (weighted, halved)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_background_alone_picks_what_looks_least_like_it() -> None:
    bags = random_bags(1)
    background = VmfBackground(VonMisesFisher(random_units(np.random.default_rng(0), 1, 5)[0], 4.0))
    alone = VmfMil(5.0, background, start=background_only, max_steps=0)
    expected = [int(background.log_score(bag).argmin()) for bag in bags]
    assert alone.learn(bags, [], np.random.default_rng(0)).localization.rows.tolist() == expected


def test_the_gaussian_background_is_the_maximum_likelihood_fit() -> None:
    raw = np.array([[1.0, 0.0], [3.0, 0.0], [1.0, 2.0], [3.0, 2.0]])
    fitted = fit_gaussian_background(raw)
    assert fitted.mean.tolist() == [2.0, 1.0]
    assert fitted.sigma == pytest.approx(1.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ObjectnessBackground(alpha=np.nan),
        lambda: ObjectnessBackground(epsilon=0.0),
        lambda: GaussianBackground(np.zeros(5), 0.0),
        lambda: VonMisesFisher(np.eye(5)[0], np.nan),
        lambda: VonMisesFisher(np.eye(5)[0], -1.0),
        lambda: fit_gaussian_background(np.zeros((0, 5))),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_birth(make: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        make()


def test_a_background_of_another_dimension_is_refused() -> None:
    bag = random_bag(np.random.default_rng(0))
    vmf, mean = VonMisesFisher(np.eye(6)[0], 1.0), np.eye(6)[:1]
    for background in (
        VmfBackground(vmf),
        MixtureBackground(VmfMixture(np.ones(1), mean, np.ones(1))),
        GaussianBackground(np.ones(1), 1.0),
    ):
        with pytest.raises(ShapeError, match="features of 5 dimensions, the background has"):
            background.log_score(bag)


def test_odds_are_those_against_an_object_and_stay_finite() -> None:
    bag = ProposalBag.from_raw("image", [[0, 0, 9, 9]] * 4, np.eye(4), [0.0, 0.2, 0.5, 1.0])
    scores = OddsBackground().log_score(bag)
    np.testing.assert_allclose(scores[1:3], [np.log(4.0), 0.0], atol=1e-6)
    assert np.isfinite(scores).all()
    assert (np.diff(scores) < 0).all()
    with pytest.raises(ShapeError, match="epsilon"):
        OddsBackground(epsilon=0.0)


def test_a_sum_of_backgrounds_weighs_its_parts() -> None:
    bag = ProposalBag.from_raw("image", [[0, 0, 9, 9]] * 4, np.eye(4), [0.1, 0.2, 0.5, 0.9])
    parts = (OddsBackground(), ObjectnessBackground())
    together = SummedBackground(((2.0, parts[0]), (-0.5, parts[1]))).log_score(bag)
    np.testing.assert_allclose(together, 2.0 * parts[0].log_score(bag) - 0.5 * parts[1].log_score(bag))
    np.testing.assert_array_equal(SummedBackground(()).log_score(bag), np.zeros(4))
