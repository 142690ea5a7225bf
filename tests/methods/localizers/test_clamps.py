"""What a person says is believed, and helps the other photos."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import exact_em, paper_method, random_bags, some_knowledge
from tag2box.arrays import Bools
from tag2box.errors import ShapeError, TooFewImagesError
from tag2box.evaluation import is_correct
from tag2box.methods.detectors import LikenessLearner
from tag2box.methods.learners import LearnedObject
from tag2box.methods.localizers import (
    NO_BACKGROUND,
    Clamps,
    GaussianMil,
    OddsBackground,
    SceneMil,
    VmfMil,
    random_regions,
)
from tag2box.methods.view import FeatureMap, raw_features, tukey_features, unit_features
from tag2box.types import ABSENT, ProposalBag
from tag2box.worlds import PlantedImage, World, plant_task


def test_a_known_region_keeps_all_the_weight() -> None:
    bags = random_bags(0)
    rows = [len(bag) - 1 for bag in bags]
    solution = VmfMil(5.0, NO_BACKGROUND).solve(bags, np.random.default_rng(0), Clamps(known={0: rows[0], 2: rows[2]}))
    found = solution.localization
    for image in (0, 2):
        assert found.rows[image] == rows[image]
        assert found.weights[image][rows[image]] == 1.0
        assert found.doubt[image] == 0.0


def test_an_absent_photo_teaches_nothing() -> None:
    bags = random_bags(1, images=5)
    clamped = VmfMil(5.0, NO_BACKGROUND).solve(bags, np.random.default_rng(0), Clamps(absent=frozenset({3})))
    without = VmfMil(5.0, NO_BACKGROUND).solve(
        [bag for place, bag in enumerate(bags) if place != 3], np.random.default_rng(0)
    )
    np.testing.assert_allclose(clamped.foreground.theta, without.foreground.theta, rtol=1e-9)
    assert clamped.steps[-1].likelihood == pytest.approx(without.steps[-1].likelihood)
    assert clamped.localization.rows[3] == ABSENT
    assert not clamped.localization.weights[3].any()


def test_the_likelihood_never_falls_with_clamps() -> None:
    for seed in range(20):
        bags = random_bags(seed, images=5)
        method = VmfMil(9.0, NO_BACKGROUND, em=exact_em)
        steps = method.solve(bags, np.random.default_rng(0), Clamps({0: 0}, frozenset({1}))).steps
        assert (np.diff([step.likelihood for step in steps]) >= -1e-9).all()


def test_two_known_photos_improve_the_others() -> None:
    world = World()
    lost = replace(paper_method(world), start=random_regions)
    before: list[bool] = []
    after: list[bool] = []
    for seed in range(30):
        images = plant_task(world, seed).support
        bags, label = [image.bag for image in images], images[0].tags[0]
        known = {place: _right_row(images[place]) for place in (0, 1)}
        for clamps, results in ((Clamps(), before), (Clamps(known), after)):
            rows = lost.solve(bags, np.random.default_rng(seed), clamps).localization.rows
            results += [is_correct(images[i].bag.boxes[rows[i]], images[i].truth, label) for i in (2, 3, 4)]
    assert np.mean(after) > np.mean(before) + 0.3


def test_one_known_region_leads_em_out_of_a_trap() -> None:
    """With three times the right concentration EM never leaves the whole images, unless somebody shows it the way."""
    world = World()
    method = paper_method(world)
    trapped = replace(method, kappa=3.0 * cast(float, method.kappa))
    results: dict[bool, list[bool]] = {False: [], True: []}
    for seed in range(20):
        images = plant_task(world, seed).support
        for known, found in results.items():
            clamps = Clamps({0: _right_row(images[0])} if known else {})
            rows = trapped.solve([image.bag for image in images], np.random.default_rng(0), clamps).localization.rows
            found += [
                is_correct(i.bag.boxes[row], i.truth, i.tags[0]) for i, row in zip(images[1:], rows[1:], strict=True)
            ]
    assert np.mean(results[False]) < 0.3
    assert np.mean(results[True]) > 0.85


def _right_row(image: PlantedImage) -> int:
    verdicts = [is_correct(box, image.truth, image.tags[0]) for box in image.bag.boxes]
    return verdicts.index(True)


def test_one_photo_is_enough_once_its_region_is_known() -> None:
    bags = random_bags(2, images=2)
    with pytest.raises(TooFewImagesError, match="in 1 image"):
        VmfMil(5.0, NO_BACKGROUND).solve(bags, np.random.default_rng(0), Clamps(absent=frozenset({1})))
    found = VmfMil(5.0, NO_BACKGROUND).solve(bags, np.random.default_rng(0), Clamps({0: 0}, frozenset({1})))
    np.testing.assert_allclose(found.foreground.theta, bags[0].features[0], rtol=1e-6)


@pytest.mark.parametrize(
    ("clamps", "complaint"),
    [
        (Clamps(known={9: 0}), r"\[9\], which do not exist"),
        (Clamps(known={0: 99}), r"\[0\], which have no such row"),
        (Clamps(known={0: -1}), r"\[0\], which have no such row"),
        (Clamps(absent=frozenset({-1})), r"\[-1\], which do not exist"),
        (Clamps({1: 0}, frozenset({1})), r"\[1\], which are known and absent at once"),
        (Clamps(taken={9: np.zeros(1, dtype=bool)}), r"\[9\], which do not exist"),
        (Clamps(taken={0: np.zeros(99, dtype=bool)}), r"\[0\], which have no such row"),
    ],
)
def test_clamps_that_make_no_sense_are_refused(clamps: Clamps, complaint: str) -> None:
    with pytest.raises(ShapeError, match=complaint):
        VmfMil(5.0, NO_BACKGROUND).solve(random_bags(3), np.random.default_rng(0), clamps)


class Clamped(Protocol):
    """Learns from bags, and from what a person says of them."""

    def __call__(self, bags: list[ProposalBag], clamps: Clamps) -> LearnedObject: ...


def by_gaussian(features: FeatureMap) -> Clamped:
    model = GaussianMil(0.7, OddsBackground(), 0.5, features, center=np.full(5, 0.1))
    return lambda bags, clamps: model.solve(bags, np.random.default_rng(0), clamps)


def by_scenes() -> Clamped:
    center = np.full(5, 0.1)
    whitening = some_knowledge().spread.whitening(center)
    vmf = VmfMil(8.0, OddsBackground(), center=center, space=whitening, em=exact_em)
    model, negatives = SceneMil(vmf, 2.0, 3.0, 1.5), random_bags(99, images=3)
    return lambda bags, clamps: model.learn(bags, negatives, np.random.default_rng(0), clamps)


def by_likeness() -> Clamped:
    localizer = VmfMil(8.0, OddsBackground(), center=np.full(5, 0.1))
    learner = LikenessLearner(localizer, 6.0, 0.5, OddsBackground())
    return lambda bags, clamps: learner.learn(bags, (), np.random.default_rng(0), clamps)


CLAMPED: dict[str, Clamped] = {
    "gaussian": by_gaussian(raw_features),
    "gaussian on unit features": by_gaussian(unit_features),
    "tukey": by_gaussian(tukey_features),
    "likeness": by_likeness(),
    "scenes": by_scenes(),
}


@pytest.mark.parametrize("name", CLAMPED)
@given(st.integers(0, 2**32 - 1), st.data())
def test_every_model_keeps_what_is_known_and_ignores_what_is_absent(name: str, seed: int, draw: st.DataObject) -> None:
    bags, query = random_bags(seed, images=5), random_bags(seed + 1, images=1)[0]
    known = {0: draw.draw(st.integers(0, len(bags[0]) - 1)), 3: draw.draw(st.integers(0, len(bags[3]) - 1))}
    found = CLAMPED[name](bags, Clamps(known, frozenset({1})))
    assert {place: found.localization.rows[place] for place in known} == known
    assert [found.localization.weights[place][row] for place, row in known.items()] == [1.0, 1.0]
    assert found.localization.rows[1] == ABSENT
    assert not found.localization.weights[1].any()
    left = [bag for place, bag in enumerate(bags) if place != 1]
    without = CLAMPED[name](left, Clamps({0: known[0], 2: known[3]}))
    np.testing.assert_array_equal(without.localization.rows, np.delete(found.localization.rows, 1))
    np.testing.assert_allclose(found.score(query), without.score(query), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", CLAMPED)
def test_another_known_region_is_another_lesson(name: str) -> None:
    bags, query = random_bags(6, images=3), random_bags(7, images=1)[0]
    scores = [CLAMPED[name](bags, Clamps({0: row, 1: 0, 2: 0})).score(query) for row in (0, len(bags[0]) - 1)]
    assert not np.allclose(scores[0], scores[1])


# Rows that show something else


def some_taken(draw: st.DataObject, bags: list[ProposalBag]) -> dict[int, Bools]:
    """Some rows of some photos, never the whole photo and so never all."""
    taken = {}
    for place in draw.draw(st.sets(st.integers(0, len(bags) - 1))):
        count = len(bags[place]) - 1
        rows = draw.draw(st.lists(st.booleans(), min_size=count, max_size=count))
        taken[place] = np.array([False, *rows])
    return taken


def without_rows(bag: ProposalBag, rows: Bools) -> ProposalBag:
    kept = (array[~rows] for array in (bag.boxes, bag.features, bag.objectness, bag.norms))
    return ProposalBag(bag.image_id, *kept)


@given(st.integers(0, 2**32 - 1), st.data())
def test_rows_that_are_taken_are_as_if_they_were_not_there(seed: int, draw: st.DataObject) -> None:
    bags, model = random_bags(seed, images=4), VmfMil(6.0, OddsBackground())
    taken = some_taken(draw, bags)
    found = model.solve(bags, np.random.default_rng(0), Clamps(taken=taken))
    fewer = [without_rows(bag, taken[i]) if i in taken else bag for i, bag in enumerate(bags)]
    alone = model.solve(fewer, np.random.default_rng(0))
    np.testing.assert_allclose(found.foreground.theta, alone.foreground.theta, atol=1e-5)
    for i, weights in enumerate(found.localization.weights):
        rows = taken.get(i, np.zeros(len(weights), dtype=bool))
        assert not weights[rows].any()
        assert weights.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(weights[~rows], alone.localization.weights[i], atol=1e-4)


def test_where_no_place_is_left_none_is_taken() -> None:
    """The tag says that the thing is there, and every region looks taken: better a guess than nothing."""
    bags, model = random_bags(4), VmfMil(6.0, NO_BACKGROUND)
    full = Clamps(taken={1: np.ones(len(bags[1]), dtype=bool)})
    found, plain = (model.solve(bags, np.random.default_rng(0), clamps) for clamps in (full, Clamps()))
    np.testing.assert_array_equal(found.foreground.theta, plain.foreground.theta)
    np.testing.assert_array_equal(found.localization.rows, plain.localization.rows)


def test_what_a_person_says_counts_more_than_what_is_taken() -> None:
    taken = np.array([False, True, True])
    clamps = Clamps({0: 1}, frozenset({2}), {0: taken, 1: taken, 2: taken})
    allowed = [clamps.allowed(image, 3).tolist() for image in range(4)]
    no, yes = -np.inf, 0.0
    assert allowed == [[no, yes, no], [yes, no, no], [no, no, no], [yes, yes, yes]]
    assert clamps.free(0, 3).tolist() == [yes, no, no]
