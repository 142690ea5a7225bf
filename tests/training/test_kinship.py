"""Axes of kinship: the loss by its definition, its slopes by differences, and kinds that nobody taught told apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import unit
from tag2box.arrays import Array
from tag2box.data import Dataset, DatasetImage
from tag2box.methods.space import Space
from tag2box.methods.spread import Spread
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.training.kinship import Asked, Climber, KinshipRecipe, Lessons, Point, kinship_loss, learn_kinship
from tag2box.types import ProposalBag, Truth

D, K, KINDS = 24, 8, 6
"""Features of the planted photos: few axes tell kinds apart, all others tell photos apart."""
TAUGHT, NEW = tuple(f"taught-{n}" for n in range(24)), tuple(f"new-{n}" for n in range(4))
THING = (10.0, 10.0, 50.0, 50.0)
seeds = st.integers(0, 2**32 - 1)


def some_task(seed: int) -> tuple[list[Asked], Point]:
    rng = np.random.default_rng(seed)
    photos = [
        Asked(rng.standard_normal((n, 7)), rng.standard_normal(n), np.clip(rng.standard_normal(n), 0.1, 1.0))
        for n in (5, 1, 6)
    ]
    return photos, Point(rng.standard_normal((7, 3)), np.array([1.0, 0.7]))


def slowly(photos: list[Asked], at: Point) -> float:
    """(4.6), one region after the other."""
    kappa, weight = np.exp(at.scales[0]), at.scales[1]
    seen = [unit(photo.rows @ at.axes) for photo in photos]
    shown = [
        sum(c * row for c, row in zip(photo.credit, rows, strict=True)) / sum(photo.credit)
        for photo, rows in zip(photos, seen, strict=True)
    ]
    losses = []
    for i, photo in enumerate(photos):
        theta = unit(np.sum([mean for j, mean in enumerate(shown) if j != i], axis=0))
        weights = [np.exp(kappa * row @ theta + weight * odds) for row, odds in zip(seen[i], photo.odds, strict=True)]
        losses.append(-np.log(sum(w * c for w, c in zip(weights, photo.credit, strict=True)) / sum(weights)))
    return float(np.mean(losses))


@given(seeds)
def test_the_loss_by_its_definition(seed: int) -> None:
    photos, at = some_task(seed)
    assert kinship_loss(photos, at)[0] == pytest.approx(slowly(photos, at), rel=1e-6, abs=1e-8)


@given(seeds)
def test_the_slopes_by_differences(seed: int) -> None:
    photos, at = some_task(seed)
    _, slopes = kinship_loss(photos, at)
    flat, rng = np.concatenate([at.axes.ravel(), at.scales]), np.random.default_rng(seed)
    along = rng.standard_normal(len(flat))
    along /= np.linalg.norm(along)

    def moved(step: float) -> float:
        there = flat + step * along
        return kinship_loss(photos, Point(there[:-2].reshape(at.axes.shape), there[-2:]))[0]

    expected = (moved(1e-5) - moved(-1e-5)) / 2e-5
    assert np.concatenate([slopes.axes.ravel(), slopes.scales]) @ along == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_two_photos_by_hand() -> None:
    """Each shows the other's thing, at cosine 1; beside it lies something at cosine 0."""
    photo = Asked(np.eye(2), np.zeros(2), np.array([1.0, 0.0]))
    loss, _ = kinship_loss([photo, photo], Point(3.0 * np.eye(2), np.array([np.log(2.0), 1.0])))
    assert loss == pytest.approx(np.log(1.0 + np.exp(-2.0)), abs=1e-6)


def test_the_first_step_has_the_size_of_the_rate_whatever_the_slope() -> None:
    climber = Climber(Point(np.array([[1.0, 1.0]]), np.array([0.0, 0.0])), (0.1, 0.5))
    climber.step(Point(np.array([[1e-3, -7.0]]), np.array([2.0, 0.0])), 1.0)
    np.testing.assert_allclose(climber.at.axes, [[0.9, 1.1]], atol=1e-6)
    np.testing.assert_allclose(climber.at.scales, [-0.5, 0.0], atol=1e-6)


def bag_of(name: str, kind: Array, rng: np.random.Generator) -> ProposalBag:
    """A photo: the whole, its thing twice, and five other places; all of them look like their photo most."""
    style = rng.standard_normal(D - KINDS)
    rows = []
    for place in range(8):
        own = kind if place in {1, 2} else 1.2 * unit(rng.standard_normal(KINDS))
        rows.append(np.concatenate([own + 0.1 * rng.standard_normal(KINDS), style + rng.standard_normal(D - KINDS)]))
    others = [[60 + 10 * n, 60, 100 + 10 * n, 100] for n in range(5)]
    boxes = np.array([[0, 0, 200, 200], THING, [12, 12, 52, 52], *others], dtype=np.float32)
    return ProposalBag.from_raw(name, boxes, np.array(rows), np.full(8, 0.5))


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> tuple[FeatureStore, Dataset]:
    rng = np.random.default_rng(0)
    kinds = dict(zip((*TAUGHT, *NEW), unit(rng.standard_normal((28, KINDS))), strict=True))
    folder, images = tmp_path_factory.mktemp("store"), []
    with StoreWriter(folder, StoreHeader("planted", D)) as writer:
        for label, kind in kinds.items():
            for number in range(12):
                name = f"{label}/{number}"
                writer.append(bag_of(name, kind, rng))
                truth = Truth.plain(name, [THING], [label])
                images.append(DatasetImage(Path("x"), 200, 200, truth))
    return FeatureStore(folder), Dataset(tuple(kinds), tuple(images))


def spread_of(store: FeatureStore) -> Spread:
    features = np.concatenate([bag.features for bag in store.scan()]).astype(np.float64)
    return Spread(features.mean(axis=0), np.cov(features.T))


def found(store: FeatureStore, spread: Spread, axes: Array, labels: tuple[str, ...]) -> float:
    """Share of the photos in which the others of their kind point at the thing."""
    space, right = Space(None, spread.mean, axes), []
    for label in labels:
        seen = [space.bag(store.bag(f"{label}/{number}")).features.astype(np.float64) for number in range(12)]
        total = sum(rows[1] for rows in seen)
        right += [int((rows @ (total - rows[1])).argmax()) in {1, 2} for rows in seen]
    return float(np.mean(right))


def test_kinds_that_nobody_taught_are_told_apart(photos: tuple[FeatureStore, Dataset]) -> None:
    store, dataset = photos
    spread = spread_of(store)
    lessons = Lessons.of([store], [dataset], TAUGHT, 6)
    axes = learn_kinship(lessons, None, spread, KinshipRecipe(axes=D, steps=150, tasks=4, rate=0.1))
    assert found(store, spread, spread.loudest(D), NEW) < 0.65
    assert found(store, spread, axes, NEW) > 0.85


def test_the_same_seed_learns_the_same(photos: tuple[FeatureStore, Dataset]) -> None:
    store, dataset = photos
    spread, lessons, told = spread_of(store), Lessons.of([store], [dataset], TAUGHT, 6), []
    few = KinshipRecipe(axes=K, steps=3, tasks=2)
    first = learn_kinship(lessons, None, spread, few, lambda done, figures: told.append((done, *figures)))
    np.testing.assert_array_equal(first, learn_kinship(lessons, None, spread, few))
    other = learn_kinship(lessons, None, spread, KinshipRecipe(axes=K, steps=3, tasks=2, seed=1))
    assert np.abs(first - other).max() > 1e-6
    assert told == [(3, "loss")]


def test_lessons_are_photos_of_base_classes_that_enough_photos_show(photos: tuple[FeatureStore, Dataset]) -> None:
    store, dataset = photos
    lessons = Lessons.of([store], [dataset], TAUGHT[:2], 12)
    assert list(lessons.photos) == list(TAUGHT[:2])
    (first, *_) = lessons.photos[TAUGHT[0]]
    inside = 38.0**2
    expected = (inside / (2 * 1600 - inside) - 0.4) / 0.4
    np.testing.assert_allclose(first.credit, [0, 1, min(expected, 1.0), 0, 0, 0, 0, 0], atol=1e-6)
    assert Lessons.of([store], [dataset], TAUGHT, 13).photos == {}
    drawn = lessons.draw(6, np.random.default_rng(0))
    assert len({lesson.image_id for lesson in drawn}) == 6
    assert len({lesson.image_id.split("/")[0] for lesson in drawn}) == 1


def test_what_is_asked_is_seen_from_the_center_and_the_mean(photos: tuple[FeatureStore, Dataset]) -> None:
    store, dataset = photos
    lesson = Lessons.of([store], [dataset], TAUGHT, 6).photos[TAUGHT[3]][2]
    center, mean = np.full(D, 0.05), np.full(D, 0.01)
    features = store.bag(lesson.image_id).features.astype(np.float64)
    asked = lesson.asked(center, mean)
    np.testing.assert_allclose(asked.rows, unit(features - center) - mean, atol=1e-5)
    np.testing.assert_allclose(lesson.asked(None, mean).rows, features - mean, atol=1e-6)
    np.testing.assert_allclose(asked.odds, 0.0, atol=1e-6)


def test_without_lessons_the_axes_are_the_loudest(photos: tuple[FeatureStore, Dataset]) -> None:
    store, dataset = photos
    spread = spread_of(store)
    axes = learn_kinship(Lessons.of([store], [dataset], ["nothing"], 6), None, spread, KinshipRecipe(axes=K))
    np.testing.assert_allclose(axes, spread.loudest(K), rtol=1e-6)
