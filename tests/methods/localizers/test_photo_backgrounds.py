"""What the photos at hand say about background, by the definition."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from samples import floor_and_thing, random_bag, random_units
from tag2box.arrays import Array
from tag2box.boxes import box_coverage, box_overlaps
from tag2box.errors import InputError, ShapeError
from tag2box.methods.localizers import (
    NO_BACKGROUND,
    CommonBackground,
    RivalBackground,
    SharedBackground,
    SummedBackground,
    VmfMil,
    background_only,
)
from tag2box.types import ProposalBag

# What is common in its own photo


def commonness_by_the_definition(bag: ProposalBag, narrowness: float = 8.0) -> tuple[list[float], list[float]]:
    """Log mean likeness to the places beside each region, and how many they are: (5.7), slowly."""
    values, counts = [], []
    for x in range(len(bag)):
        total, places = 0.0, 0.0
        for y in range(len(bag)):
            inside = [box_coverage(bag.boxes[[a]], bag.boxes[[b]])[0, 0] for a, b in ((x, y), (y, x))]
            if max(inside) >= 0.3:
                continue
            weight = 1.0 / sum(box_overlaps(bag.boxes[[y]], bag.boxes[[z]])[0, 0] > 0.5 for z in range(len(bag)))
            cosine = float(bag.features[x].astype(np.float64) @ bag.features[y].astype(np.float64))
            total += weight * np.exp(narrowness * (cosine - 1.0))
            places += weight
        values.append(float(np.log(total / places)) if places else -np.inf)
        counts.append(places)
    return values, counts


@pytest.mark.parametrize("seed", range(4))
def test_commonness_by_the_definition(seed: int) -> None:
    bag = random_bag(np.random.default_rng(seed), 25, 6)
    values, counts = commonness_by_the_definition(bag)
    judged = np.array(counts) >= 3.0
    assert judged.any()
    assert not judged[0]  # nothing is beside the whole photo
    known = np.array(values)[judged]
    found = CommonBackground().log_score(bag)
    np.testing.assert_allclose(found[judged], (known - known.mean()) / known.std(), atol=1e-6)
    assert (found[~judged] == found[judged].max()).all()


def test_a_photo_of_one_region_says_nothing() -> None:
    bag = ProposalBag.from_raw("a", [[0, 0, 9, 9]], [[1.0, 2.0]], [0.5])
    assert CommonBackground().log_score(bag).tolist() == [0.0]
    with pytest.raises(InputError, match="narrowness"):
        CommonBackground(0.0)


def test_what_all_photos_share_and_none_is_full_of_is_the_thing_and_not_the_floor() -> None:
    """The whole photos share the floor, and from there EM finds the floor; rarity shows it the thing."""
    rng = np.random.default_rng(0)
    bags = [floor_and_thing(rng, number) for number in range(6)]
    plain = VmfMil(12.0, NO_BACKGROUND).solve(bags, rng).localization.rows
    assert 10 not in plain
    rare = VmfMil(12.0, SummedBackground(((2.0, CommonBackground()),)), start=background_only)
    assert rare.solve(bags, rng).localization.rows.tolist() == [10] * 6


def test_commonness_is_worked_out_once_for_each_photo_and_forgotten_with_it() -> None:
    bag, other = (random_bag(np.random.default_rng(seed), 25, 6) for seed in (0, 1))
    background, narrower = CommonBackground(), CommonBackground(20.0)
    assert background.log_score(bag) is background.log_score(bag)
    assert not np.allclose(background.log_score(bag), background.log_score(other))
    assert not np.allclose(background.log_score(bag), narrower.log_score(bag))
    kept, scores = weakref.ref(bag), weakref.ref(background.log_score(bag))
    del bag
    gc.collect()
    assert kept() is None
    assert scores() is None


# What all photos show


def kept_evenly(count: int, most: int) -> list[int]:
    """Places from the first to the last, at even distances."""
    if count <= most:
        return list(range(count))
    return [round(place * (count - 1) / (most - 1)) for place in range(most)]


def places_of(bag: ProposalBag) -> list[tuple[int, float]]:
    """Some of its rows, each with one over the number of all rows in the same place."""
    rows = kept_evenly(len(bag), 64)
    counts = [sum(box_overlaps(bag.boxes[[row]], bag.boxes)[0] > 0.5) for row in rows]
    return [(row, 1.0 / count) for row, count in zip(rows, counts, strict=True)]


def sharedness_by_the_definition(bags: list[ProposalBag], bag: ProposalBag, narrowness: float = 8.0) -> Array:
    """Log mean likeness to the places of the other photos, in deviations: (5.11), slowly."""
    others = [bags[place] for place in kept_evenly(len(bags), 16) if bags[place].image_id != bag.image_id]
    total = np.zeros(len(bag))
    for other in others:
        places = places_of(other)
        for row, weight in places:
            cosines = [float(x @ other.features[row]) for x in bag.features.astype(np.float64)]
            share = weight / sum(weight for _, weight in places)
            total += share * np.exp(narrowness * (np.array(cosines) - 1.0)) / len(others)
    found = np.log(total)
    return (found - found.mean()) / found.std()


def ragged_bags(seed: int, images: int, d: int = 5) -> list[ProposalBag]:
    rng = np.random.default_rng(seed)
    return [random_bag(rng, int(rng.integers(2, 12)), d, f"image-{number}") for number in range(images)]


@pytest.mark.parametrize("seed", range(4))
def test_sharedness_by_the_definition(seed: int) -> None:
    bags, stranger = ragged_bags(seed, 4), random_bag(np.random.default_rng(seed + 100), image_id="elsewhere")
    background = SharedBackground.of(bags)
    for bag in (*bags, stranger):
        np.testing.assert_allclose(background.log_score(bag), sharedness_by_the_definition(bags, bag), atol=1e-5)


def test_of_many_photos_and_regions_some_are_asked_evenly() -> None:
    many = ragged_bags(7, 21)
    rng = np.random.default_rng(8)
    large = [random_bag(rng, regions, 5, f"large-{regions}") for regions in (90, 64, 150)]
    for bags in (many, large):
        background = SharedBackground.of(bags)
        for bag in bags[:2]:
            np.testing.assert_allclose(background.log_score(bag), sharedness_by_the_definition(bags, bag), atol=1e-5)
    assert len(set(SharedBackground.of(many).photos.tolist())) == 16
    assert len(SharedBackground.of(large).rows) == 3 * 64


def plain_bag(name: str, *rows: list[float], crowded: int = 0) -> ProposalBag:
    """The whole photo and regions side by side, of which the last is there some more times."""
    boxes = [[0, 0, 10 * len(rows), 10], *([10 * n, 0, 10 * n + 10, 10] for n in range(1, len(rows)))]
    return ProposalBag.from_raw(
        name, [*boxes, *boxes[-1:] * crowded], [*rows, *rows[-1:] * crowded], np.full(len(rows) + crowded, 0.5)
    )


X, Y, Z = np.eye(3).tolist()


def test_what_recurs_in_the_other_photos_is_background_and_what_does_not_is_not() -> None:
    bags = [plain_bag("a", X, Y), plain_bag("b", X, Z), plain_bag("c", X, [0.0, 1.0, 1.0])]
    for bag in bags:
        fixed, thing = SharedBackground.of(bags).log_score(bag)
        assert (fixed, thing) == pytest.approx((1.0, -1.0))


def test_a_photo_does_not_count_against_itself() -> None:
    """What fills it is in no other photo."""
    bags = [plain_bag("a", Y, X, Y, Y, Y), plain_bag("b", X, Z), plain_bag("c", X, Z)]
    scores = SharedBackground.of(bags).log_score(bags[0])
    assert scores.argmax() == 1
    assert SharedBackground.of(bags).log_score(plain_bag("d", Y, X, Z)).argmin() == 0  # one photo of three


def test_every_photo_counts_alike_and_each_place_once() -> None:
    """Many regions, beside each other or on one place, are no louder than few."""
    bag = plain_bag("new", X, Y, Z)
    few = SharedBackground.of([plain_bag("a", X), plain_bag("b", Y, Z)]).log_score(bag)
    many = SharedBackground.of([plain_bag("a", X, X, X, X), plain_bag("b", Y, Z, crowded=5)]).log_score(bag)
    np.testing.assert_allclose(few, many, atol=1e-5)
    assert few[1] == pytest.approx(few[2])
    assert few[0] > few[1]


def test_one_photo_says_nothing_and_neither_does_one_look() -> None:
    (bag,) = ragged_bags(0, 1)
    assert SharedBackground.of([bag]).log_score(bag).tolist() == [0.0] * len(bag)
    alike = plain_bag("a", X, X)
    assert SharedBackground.of([alike, plain_bag("b", X)]).log_score(alike).tolist() == [0.0, 0.0]


def test_a_scene_of_another_extractor_is_refused() -> None:
    with pytest.raises(ShapeError, match="features of 5 dimensions, the scene has 6"):
        SharedBackground.of(ragged_bags(0, 2, d=6)).log_score(ragged_bags(0, 1)[0])


# What photos without the thing have to offer


@pytest.mark.parametrize("seed", range(4))
def test_likeness_to_rivals_by_the_definition(seed: int) -> None:
    """(5.10), slowly."""
    rng = np.random.default_rng(seed)
    bag, rivals = random_bag(rng), random_units(rng, 3, 5)
    expected = []
    for x in bag.features.astype(np.float64):
        total = 0.0
        for y in rivals:
            total += np.exp(7.0 * (float(x @ y) - 1.0))
        expected.append(np.log(total / 3 + 1e-6))
    np.testing.assert_allclose(RivalBackground(rivals, 7.0).log_score(bag), expected, rtol=1e-5)


def test_a_rival_itself_is_the_worst_and_what_no_rival_is_like_counts_for_nothing() -> None:
    bag = ProposalBag.from_raw("a", [[0, 0, 9, 9]] * 3, [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [0.5] * 3)
    scores = RivalBackground(np.array([[1.0, 0.0]]), 500.0).log_score(bag)
    np.testing.assert_allclose(scores, [0.0, np.log(1e-6), np.log(1e-6)], atol=1e-5)


@pytest.mark.parametrize(("rivals", "kappa"), [(np.zeros((0, 5)), 3.0), (np.eye(5)[0], 3.0), (np.eye(5), 0.0)])
def test_rivals_that_make_no_sense_are_refused(rivals: Array, kappa: float) -> None:
    with pytest.raises(InputError):
        RivalBackground(rivals, kappa)


def test_rivals_of_another_extractor_are_refused() -> None:
    with pytest.raises(ShapeError, match="features of 5 dimensions, the background of rivals has 6"):
        RivalBackground(np.eye(6), 3.0).log_score(random_bag(np.random.default_rng(0)))
