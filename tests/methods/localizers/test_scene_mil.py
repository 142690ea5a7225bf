"""How alike scenes are, and what follows from it: rarity where they are, rivals where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import floor_and_thing, random_bags, random_units, remade, some_knowledge, unit
from tag2box.arrays import Array
from tag2box.errors import InputError
from tag2box.methods.localizers import (
    COMMON,
    NO_BACKGROUND,
    NO_CLAMPS,
    Background,
    Clamps,
    EmStep,
    OddsBackground,
    RivalBackground,
    SceneMil,
    SharedBackground,
    Solution,
    SummedBackground,
    VmfForeground,
    VmfMil,
    background_only,
    scene_likeness,
    whole_images,
)
from tag2box.methods.localizers import given as given_start
from tag2box.methods.localizers.starts import Start
from tag2box.sphere import kappa_along
from tag2box.types import ABSENT, ProposalBag

seeds = st.integers(0, 2**32 - 1)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def whitened(kappa: float = 8.0) -> VmfMil:
    """As users get it, with five dimensions."""
    known = some_knowledge()
    return VmfMil(kappa, OddsBackground(), center=known.center, space=known.whitening, start=background_only)


def along_axes(kappa: float) -> VmfMil:
    """The same, as narrow as what the photos share is alike."""
    return replace(whitened(kappa), kappa_rule=partial(kappa_along, axes=4))


PLAIN = VmfMil(8.0, OddsBackground())


# How alike scenes are


@pytest.mark.parametrize("vmf", [PLAIN, replace(PLAIN, center=np.full(5, 0.2)), whitened()])
@given(seeds, st.integers(2, 6))
def test_scene_likeness_by_the_definition(vmf: VmfMil, seed: int, images: int) -> None:
    """(5.8), pair by pair."""
    bags = random_bags(seed, images)
    total = 0.0
    for i, one in enumerate(bags):
        for j, other in enumerate(bags):
            if i != j:
                first, second = (vmf.seen(bag).features[0].astype(np.float64) for bag in (one, other))
                total += float(first @ second)
    expected = min(max(total / (images * (images - 1)), 0.0), 1.0)
    for model in (vmf, SceneMil(vmf, 1.0, 1.0, 1.0)):
        assert scene_likeness(model, bags) == pytest.approx(expected, abs=1e-6)


def photo(*rows: Array) -> ProposalBag:
    """Regions side by side behind the whole photo, which is the first row."""
    boxes = [[0, 0, 100, 10], *([10 * n, 0, 10 * n + 10, 10] for n in range(len(rows) - 1))]
    return ProposalBag.from_raw("photo", boxes, np.stack(rows), np.full(len(rows), 0.5))


def test_scene_likeness_by_hand() -> None:
    model, (x, y, _) = SceneMil(PLAIN, 1.0, 1.0, 1.0), np.eye(3)
    assert scene_likeness(model, [photo(x), photo(x), photo(x)]) == pytest.approx(1.0)
    assert scene_likeness(model, [photo(x), photo(x), photo(y)]) == pytest.approx(1 / 3)
    assert scene_likeness(model, [photo(x), photo(-x)]) == 0.0  # and not -1
    assert scene_likeness(model, [photo(x)]) == scene_likeness(model, []) == 0.0


# What it is without weights, and what the weights do


@pytest.mark.parametrize("start", [whole_images, background_only])
@given(seeds)
def test_without_weights_it_is_plain(start: Start, seed: int) -> None:
    bags, negatives = random_bags(seed), random_bags(seed + 1)
    vmf = replace(whitened(), start=start)
    found, plain = SceneMil(vmf, 0.0, 0.0, 0.0).learn(bags, negatives, rng()), vmf.learn(bags, negatives, rng())
    np.testing.assert_array_equal(found.foreground.theta, plain.foreground.theta)
    np.testing.assert_array_equal(found.localization.rows, plain.localization.rows)
    np.testing.assert_array_equal(found.score(negatives[0]), plain.score(negatives[0]))
    assert len(found.steps) == len(plain.steps)


def runs_of(
    model: SceneMil, weight: float, other: Background, bags: list[ProposalBag], negatives: list[ProposalBag]
) -> list[Solution[VmfForeground]]:
    """The runs of EM against one kind of scene, one after the other, by (5.9), (5.10) and what is said beside them."""
    alike = scene_likeness(model, bags)
    parts = ((1.0, model.vmf.background), (weight * alike**4, other))
    runs = [replace(model.vmf, background=SummedBackground(parts)).solve(bags, rng())]
    for _ in range(2 if negatives else 0):
        foreground, rivals = runs[-1].foreground, []
        for bag in negatives:
            best, row = -np.inf, np.zeros(0)
            directions, background = runs[-1].viewer(bag)
            for x, against in zip(directions.dense().astype(np.float64), background, strict=True):
                logit = foreground.kappa * float(foreground.theta @ x) - against
                best, row = (logit, x) if logit > best else (best, row)
            rivals.append(row)
        rival = RivalBackground(np.stack(rivals), 32.0)
        summed = SummedBackground((*parts, (model.rivalry_weight * (1.0 - alike) ** 3, rival)))
        again = replace(model.vmf, background=summed, kappa=foreground.kappa, start=given_start(foreground.theta))
        runs.append(again.solve(bags, rng()))
    return runs


def slowly(model: SceneMil, bags: list[ProposalBag], negatives: list[ProposalBag]) -> list[Solution[VmfForeground]]:
    """The runs that end on the more object-like regions, where there are two ways."""
    common = runs_of(model, model.commonness_weight, COMMON, bags, negatives)
    if scene_likeness(model, bags) < 0.5:
        return common
    scene = SharedBackground.of([model.vmf.seen(bag) for bag in bags])
    shared = runs_of(model, model.sharedness_weight, scene, bags, negatives)
    return shared if odds(shared[-1], bags) > odds(common[-1], bags) else common


def odds(found: Solution[VmfForeground], bags: list[ProposalBag]) -> float:
    """Mean log odds of the regions that were chosen."""
    chosen = [float(bag.objectness[row]) for bag, row in zip(bags, found.localization.rows.tolist(), strict=True)]
    return float(np.mean([np.log(p / (1 - p)) for p in np.clip(chosen, 1e-4, 1 - 1e-4)]))


@given(seeds)
def test_three_runs_of_em_by_the_definition(seed: int) -> None:
    bags, negatives = random_bags(seed), random_bags(seed + 1, images=3)
    model = SceneMil(whitened(4.0), 3.0, 4.0, 2.0)
    found, runs = model.learn(bags, negatives, rng()), slowly(model, bags, negatives)
    np.testing.assert_allclose(found.foreground.theta, runs[-1].foreground.theta, atol=1e-4)
    assert len(found.steps) == sum(len(run.steps) for run in runs)


def test_the_steps_of_all_runs_are_there_for_replay() -> None:
    bags, negatives = random_bags(1), random_bags(2, images=3)
    model = SceneMil(along_axes(4.0), 3.0, 4.0, 2.0)
    found, runs = model.learn(bags, negatives, rng()), slowly(model, bags, negatives)
    steps: list[EmStep[VmfForeground]] = [step for run in runs for step in run.steps]
    for mine, slow in zip(found.steps, steps, strict=True):
        np.testing.assert_allclose(mine.foreground.theta, slow.foreground.theta, atol=1e-4)
        assert mine.likelihood == pytest.approx(slow.likelihood, abs=1e-3)
    assert found.converged == runs[-1].converged
    rows = found.rows_by_step()
    assert rows.shape == (len(steps), len(bags))
    np.testing.assert_array_equal(rows[-1], found.localization.rows)
    np.testing.assert_array_equal(rows[0], runs[0].rows_by_step()[0])


def test_without_other_photos_there_are_no_rivals() -> None:
    bags = random_bags(3)
    with_weight, without = (SceneMil(whitened(), 2.0, 2.0, weight).learn(bags, [], rng()) for weight in (5.0, 0.0))
    np.testing.assert_array_equal(with_weight.foreground.theta, without.foreground.theta)
    assert len(with_weight.steps) == len(without.steps)


def test_where_all_photos_are_one_scene_others_are_not_asked() -> None:
    """What the others lack is the scene."""
    whole = np.eye(12)[0]
    bags = [photo(whole, *random_units(np.random.default_rng(n), 4, 12)) for n in range(3)]
    negatives = [photo(*random_units(np.random.default_rng(n), 5, 12)) for n in range(5, 8)]
    model = SceneMil(VmfMil(8.0, NO_BACKGROUND), 1.0, 2.0, 4.0)
    np.testing.assert_array_equal(
        model.learn(bags, negatives, rng()).foreground.theta, model.learn(bags, [], rng()).foreground.theta
    )


# Planted photos


def test_on_one_floor_the_thing_is_found_and_not_the_floor() -> None:
    noise = np.random.default_rng(0)
    bags = [floor_and_thing(noise, number) for number in range(6)]
    plain = VmfMil(12.0, NO_BACKGROUND, start=whole_images)
    assert 10 not in plain.learn(bags, [], rng()).localization.rows
    scenes = SceneMil(replace(plain, start=background_only), 3.0, 0.0, 0.0)
    assert scene_likeness(scenes, bags) > 0.9
    assert scenes.learn(bags, [], rng()).localization.rows.tolist() == [10] * 6


FIXTURE, THING = 10, 11
"""Rows of what never moves, and of what does."""


def fixture_and_thing(number: int, fixture: float, thing: float) -> ProposalBag:
    """A floor of nine tiles, and on two of them a thing that differs a little, and one that recurs exactly.

    How much they look like objects is given.
    """
    noise, (floor, fixed, moving, *_) = np.random.default_rng(number), np.eye(12)
    tiles = [[x, y, x + 30, y + 30] for y in (0, 30, 60) for x in (0, 30, 60)]
    x, y, *_ = tiles[1 + number]
    boxes = [[0, 0, 90, 90], *tiles, [5, 5, 25, 25], [x + 5, y + 5, x + 25, y + 25]]
    rows = [floor, *(floor + 0.1 * noise.standard_normal(12) for _ in tiles)]
    looks = [fixed, moving + 0.15 * noise.standard_normal(12)]
    return ProposalBag.from_raw(str(number), boxes, [*rows, *looks], [*[0.2] * 10, fixture, thing])


@pytest.mark.parametrize(
    ("fixture", "thing", "wins"), [(0.3, 0.7, THING), (0.7, 0.3, FIXTURE), (0.6, 0.61, THING), (0.5, 0.5, FIXTURE)]
)
def test_of_two_ends_the_one_that_looks_more_like_objects_counts(fixture: float, thing: float, wins: int) -> None:
    """What never moves is as rare in its photo as the thing, and recurs better; to the other photos it is a scene.

    Where both look alike, what is rare in its own photo stays.
    """
    bags = [fixture_and_thing(number, fixture, thing) for number in range(6)]
    model = SceneMil(VmfMil(12.0, NO_BACKGROUND, start=background_only), 3.0, 5.0, 0.0)
    assert scene_likeness(model, bags) > 0.9
    seen = SharedBackground.of(bags)
    common, shared = (runs_of(model, weight, other, bags, [])[0] for weight, other in ((3.0, COMMON), (5.0, seen)))
    assert common.localization.rows.tolist() == [FIXTURE] * 6
    assert shared.localization.rows.tolist() == [THING] * 6
    found = model.learn(bags, [], rng())
    assert found.localization.rows.tolist() == [wins] * 6
    expected = {FIXTURE: common, THING: shared}[wins]
    np.testing.assert_allclose(found.foreground.theta, expected.foreground.theta, atol=1e-6)


def test_without_sharedness_the_second_look_is_a_plain_one() -> None:
    """From objectness alone EM ends where the photos agree best; that counts if it looks more like objects."""
    for fixture, thing, wins in ((0.3, 0.7, FIXTURE), (0.7, 0.3, FIXTURE)):
        bags = [fixture_and_thing(number, fixture, thing) for number in range(6)]
        model = SceneMil(VmfMil(12.0, NO_BACKGROUND, start=background_only), 3.0, 0.0, 0.0)
        assert model.learn(bags, [], rng()).localization.rows.tolist() == [wins] * 6


def test_two_ends_by_the_definition_with_rivals_too() -> None:
    """Scenes that are alike by about two thirds, so that everything counts."""
    for number in range(4):
        noise, bags = np.random.default_rng(number), []
        for place in range(4):
            rows = [np.eye(12)[0] + 0.2 * noise.standard_normal(12), *random_units(noise, 6, 12)]
            bag = photo(*rows)
            bags.append(remade(bag, image_id=str(place), objectness=noise.uniform(size=7).astype(np.float32)))
        negatives = [photo(*random_units(noise, 5, 12)) for _ in range(3)]
        model = SceneMil(VmfMil(8.0, OddsBackground(), start=background_only), 3.0, 5.0, 4.0)
        assert 0.5 < scene_likeness(model, bags) < 0.9
        found, runs = model.learn(bags, negatives, rng()), slowly(model, bags, negatives)
        np.testing.assert_allclose(found.foreground.theta, runs[-1].foreground.theta, atol=1e-4)
        assert len(found.steps) == sum(len(run.steps) for run in runs)


@pytest.mark.parametrize(("alike", "looks"), [(0.49, 1), (0.51, 2)])
def test_only_photos_of_one_scene_are_looked_at_twice(
    alike: float, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved: list[VmfMil] = []
    plain = VmfMil.solve

    def remember(
        self: VmfMil, bags: Sequence[ProposalBag], random: np.random.Generator, clamps: Clamps = NO_CLAMPS
    ) -> Solution[VmfForeground]:
        solved.append(self)
        return plain(self, bags, random, clamps)

    monkeypatch.setattr(VmfMil, "solve", remember)
    x, y = np.eye(12)[:2]
    wholes = [x, alike * x + np.sqrt(1 - alike**2) * y]
    bags = [photo(whole, *random_units(np.random.default_rng(n), 4, 12)) for n, whole in enumerate(wholes)]
    SceneMil(VmfMil(8.0, NO_BACKGROUND), 1.0, 2.0, 4.0).learn(bags, [], rng())
    assert len(solved) == looks


def test_a_photo_without_the_thing_has_no_say_in_which_end_counts() -> None:
    bags = [fixture_and_thing(number, 0.3, 0.7) for number in range(6)]
    model = SceneMil(VmfMil(12.0, NO_BACKGROUND, start=background_only), 3.0, 5.0, 0.0)
    found = model.learn(bags, [], rng(), Clamps(absent=frozenset({2})))
    assert found.localization.rows.tolist() == [THING if place != 2 else ABSENT for place in range(6)]


FIRST, SECOND = 1, 2
"""Rows of the two things."""


def two_things(number: int, touch: float = 0.0) -> ProposalBag:
    """A photo of a place of its own, with two things of which the first is the clearer one, and three of no kind.

    The first has a touch of the second, which lies beside it.
    """
    noise, axes = np.random.default_rng(number), np.eye(16)
    things = [axes[0] + touch * axes[1] + 0.05 * noise.standard_normal(16), axes[1] + 0.12 * noise.standard_normal(16)]
    return photo(random_units(noise, 1, 16)[0], *things, *random_units(noise, 3, 16))


def only_the_first(number: int) -> ProposalBag:
    noise = np.random.default_rng(number)
    thing = np.eye(16)[0] + 0.05 * noise.standard_normal(16)
    return photo(random_units(noise, 1, 16)[0], *random_units(noise, 2, 16), thing, *random_units(noise, 2, 16))


def test_what_other_photos_show_too_is_not_the_thing() -> None:
    bags, negatives = [two_things(n) for n in range(5)], [only_the_first(n) for n in range(20, 26)]
    alone = SceneMil(VmfMil(12.0, NO_BACKGROUND, start=background_only), 3.0, 3.0, 0.0)
    rivals = replace(alone, rivalry_weight=3.0)
    assert scene_likeness(rivals, bags) < 0.2
    assert alone.learn(bags, negatives, rng()).localization.rows.tolist() == [FIRST] * 5
    assert rivals.learn(bags, [], rng()).localization.rows.tolist() == [FIRST] * 5
    assert rivals.learn(bags, negatives, rng()).localization.rows.tolist() == [SECOND] * 5


def test_several_classes_of_the_same_photos_are_not_in_the_same_place() -> None:
    """Alone each of the two would take the clearer thing; the photos with one tag tell whose it is."""
    bags = [*(two_things(n, 0.3) for n in range(4)), *(only_the_first(n) for n in range(20, 24))]
    tags = [{"one", "two"}] * 4 + [{"one"}] * 4
    model = SceneMil(VmfMil(6.0, NO_BACKGROUND, start=background_only), 0.0, 0.0, 0.0)
    assert model.learn(bags[:4], bags[4:], rng()).localization.rows.tolist() == [FIRST] * 4
    found = model.learn_classes(bags, tags, ["two", "one"], rng())
    assert found["one"].localization.rows.tolist() == [FIRST] * 4 + [3] * 4
    assert found["two"].localization.rows.tolist() == [SECOND] * 4


# What a person knows


def test_a_photo_without_the_thing_says_nothing_about_the_scene() -> None:
    """Two photos of one place and one of another: without the other, the scenes are alike."""
    bags = random_bags(5, images=4)
    clamps = Clamps(absent=frozenset({2}))
    model, left = SceneMil(whitened(), 4.0, 4.0, 4.0), [bag for place, bag in enumerate(bags) if place != 2]
    assert scene_likeness(model, bags) != pytest.approx(scene_likeness(model, left))
    negatives = random_bags(6, images=2)
    found, without = model.learn(bags, negatives, rng(), clamps), model.learn(left, negatives, rng())
    np.testing.assert_allclose(found.foreground.theta, without.foreground.theta, atol=1e-5)
    assert found.localization.rows[2] == ABSENT


def test_a_known_region_stays_whatever_speaks_against_it() -> None:
    """The rivals are just like it."""
    bags, negatives = [two_things(n) for n in range(5)], [only_the_first(n) for n in range(20, 26)]
    model = SceneMil(VmfMil(12.0, NO_BACKGROUND, start=background_only), 3.0, 3.0, 2.0)
    found = model.learn(bags, negatives, rng(), Clamps({0: FIRST, 3: 4})).localization
    assert (found.rows[0], found.rows[3]) == (FIRST, 4)
    assert found.weights[0][FIRST] == found.weights[3][4] == 1.0


def test_what_is_taken_stays_so_in_every_run() -> None:
    bags, negatives = [two_things(n) for n in range(5)], [only_the_first(n) for n in range(20, 26)]
    taken = np.arange(len(bags[0])) == FIRST
    model = SceneMil(VmfMil(12.0, NO_BACKGROUND, start=background_only), 3.0, 3.0, 2.0)
    found = model.learn(bags, negatives, rng(), Clamps(taken=dict.fromkeys(range(5), taken)))
    assert not any(found.weights_at(step).reshape(5, -1)[:, FIRST].any() for step in found.steps)
    assert found.localization.rows.tolist() == [SECOND] * 5


@pytest.mark.parametrize("weights", [(np.nan, 0.0, 0.0), (0.0, np.nan, 0.0), (0.0, 0.0, np.inf)])
def test_weights_that_are_no_numbers_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(InputError):
        SceneMil(PLAIN, *weights)


def test_directions_come_back_as_the_inner_method_says() -> None:
    vmf = whitened()
    directions = unit(np.random.default_rng(0).standard_normal((3, 5)))
    model = SceneMil(vmf, 1.0, 1.0, 1.0)
    np.testing.assert_array_equal(model.among_centered(directions), vmf.among_centered(directions))
    np.testing.assert_array_equal(SceneMil(PLAIN, 1.0, 1.0, 1.0).among_centered(directions), directions)
    assert model.center is vmf.center
