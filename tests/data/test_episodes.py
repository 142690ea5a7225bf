"""Episodes: fair, disjoint, and the same everywhere."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.data import (
    Draws,
    EpisodePool,
    EpisodeSampler,
    class_of_an_object,
    classes_by_images,
    classes_uniformly,
)
from tag2box.errors import NoImagesOfClassError, PoolTooSmallError, ShapeError

TAGS = {f"{number:03d}": {"abcdef"[number % 6], "abc"[number % 3]} for number in range(120)}
POOL = EpisodePool.build(TAGS)


def test_an_episode_is_the_same_on_every_machine() -> None:
    """Written down once; a library or a machine that draws differently fails here."""
    episode = EpisodeSampler(POOL, ways=2, shots=2, seed=7, negatives=2).episode(3)
    assert episode.classes == EXPECTED["classes"]
    assert tuple(image.image_id for image in episode.support) == EXPECTED["support"]
    assert episode.negatives == EXPECTED["negatives"]
    assert episode.queries == EXPECTED["queries"]


EXPECTED: dict[str, tuple[str, ...]] = {
    "classes": ("b", "d"),
    "support": ("094", "091", "105", "063"),
    "negatives": ("110", "023"),
    "queries": ("025", "009"),
}


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 5), st.integers(0, 3))
def test_support_and_query_are_disjoint_and_tagged_in_full(seed: int, ways: int, shots: int, queries: int) -> None:
    episode = EpisodeSampler(POOL, ways, shots, seed, queries=queries).episode(0)
    support = [image.image_id for image in episode.support]
    assert len(set(episode.classes)) == ways
    assert len(set(support)) == len(support) == ways * shots
    assert len(set(episode.queries)) == len(episode.queries) == ways * queries
    assert not set(support) & set(episode.queries)
    for image in episode.support:
        assert set(image.tags) == TAGS[image.image_id] & set(episode.classes)
    for label in episode.classes:
        assert len(episode.positives(label)) >= shots
        assert sum(label in TAGS[image] for image in episode.queries) >= queries


def test_negatives_show_no_target() -> None:
    for episode in EpisodeSampler(POOL, 1, 5, seed=1, negatives=5).episodes(50):
        assert len(episode.negatives) == 5
        assert not any(set(episode.classes) & TAGS[image] for image in episode.negatives)


def test_episodes_do_not_depend_on_each_other_or_on_the_order_of_the_pool() -> None:
    reversed_pool = EpisodePool.build(dict(reversed(TAGS.items())))
    sampler = EpisodeSampler(POOL, 2, 3, seed=5)
    assert EpisodeSampler(reversed_pool, 2, 3, seed=5).episodes(20)[13] == sampler.episode(13)
    assert sampler.episode(13) != sampler.episode(14)
    assert sampler.episode(0) != EpisodeSampler(POOL, 2, 3, seed=6).episode(0)


def test_classes_come_in_proportion_to_images_or_uniformly() -> None:
    tags = (
        {f"a{n}": ["a"] for n in range(60)} | {f"b{n}": ["b"] for n in range(30)} | {f"c{n}": ["c"] for n in range(10)}
    )
    pool = EpisodePool.build(tags)
    for draw, shares in ((classes_by_images, [0.6, 0.3, 0.1]), (classes_uniformly, [1 / 3, 1 / 3, 1 / 3])):
        sampler = EpisodeSampler(pool, 1, 1, seed=0, draw_classes=draw)
        counts = Counter(episode.classes[0] for episode in sampler.episodes(2000))
        np.testing.assert_allclose([counts[label] / 2000 for label in "abc"], shares, atol=0.04)


def test_an_object_of_any_image_gives_the_class_and_its_image_the_first_place() -> None:
    """Half of the images show one cat; the others three dogs and one cat."""
    objects = {f"{n:02d}": ["cat"] if n < 10 else ["dog", "dog", "cat", "dog"] for n in range(20)}
    pool = EpisodePool.build({image: set(labels) for image, labels in objects.items()}, None, objects)
    episodes = EpisodeSampler(pool, 1, 3, seed=0, draw_classes=class_of_an_object).episodes(4000)
    first = Counter((e.classes[0], e.support[0].image_id < "10") for e in episodes)
    shares = [first["cat", True] / 4000, first["cat", False] / 4000, first["dog", False] / 4000]
    np.testing.assert_allclose(shares, [1 / 2, 1 / 8, 3 / 8], atol=0.03)
    others = Counter(image.image_id < "10" for e in episodes if e.classes == ("cat",) for image in e.support[1:])
    assert others[True] / others.total() == pytest.approx((4 / 5 * 9 + 1 / 5 * 10) / 19, abs=0.02)  # all show a cat
    for episode in episodes[:100]:
        assert len({image.image_id for image in episode.support} | set(episode.queries)) == 4
    with pytest.raises(ShapeError, match="2 classes were to be drawn by an object"):
        EpisodeSampler(pool, 2, 3, seed=0, draw_classes=class_of_an_object).episode(0)


def test_objects_of_other_classes_are_not_drawn() -> None:
    pool = EpisodePool.build({str(n): ["cat", "dog"] for n in range(5)} | {"6": ["dog"]}, ["cat"])
    episodes = EpisodeSampler(pool, 1, 2, seed=1, draw_classes=class_of_an_object).episodes(50)
    assert {episode.classes for episode in episodes} == {("cat",)}


def test_every_image_of_a_class_has_the_same_chance() -> None:
    pool = EpisodePool.build({str(number): ["a"] for number in range(10)})
    counts = Counter(e.support[0].image_id for e in EpisodeSampler(pool, 1, 1, seed=2).episodes(5000))
    assert min(counts.values()) > 400
    assert max(counts.values()) < 600


def test_only_the_wanted_classes_become_targets_but_all_images_may_be_negatives() -> None:
    pool = EpisodePool.build(TAGS, classes=["d"])
    episode = EpisodeSampler(pool, 1, 3, seed=0, negatives=30).episode(0)
    assert episode.classes == ("d",)
    assert all(image.tags == ("d",) for image in episode.support)
    assert all("d" not in TAGS[image] for image in episode.negatives)


def test_more_shots_than_images_are_refused() -> None:
    """At once, not when the rare class happens to be drawn."""
    with pytest.raises(PoolTooSmallError, match="class 'd': 21 images are needed, 20 of its 20 are free"):
        EpisodeSampler(POOL, 1, 20, seed=0)
    crowded = EpisodePool.build({str(n): ["a", "b"] for n in range(4)})
    with pytest.raises(PoolTooSmallError, match="2 images are needed, 0 of its 4 are free"):
        EpisodeSampler(crowded, 2, 1, seed=0, queries=2).episode(0)
    with pytest.raises(PoolTooSmallError, match="none of the targets"):
        EpisodeSampler(EpisodePool.build(TAGS, ["d"]), 1, 5, seed=0, negatives=101).episode(0)


def test_more_ways_than_classes_are_refused() -> None:
    with pytest.raises(PoolTooSmallError, match="7-way episodes"):
        EpisodeSampler(POOL, 7, 1, seed=0)


@pytest.mark.parametrize("numbers", [{"ways": 0}, {"shots": 0}, {"shots": -1}, {"queries": -1}, {"negatives": -1}])
def test_numbers_that_make_no_sense_are_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(ShapeError, match=f"{next(iter(numbers))} is "):
        replace(EpisodeSampler(POOL, 1, 1, seed=0), **numbers)  # type: ignore[arg-type]


def test_a_text_is_not_a_set_of_tags() -> None:
    with pytest.raises(ShapeError, match="the tags of image '1' are the text 'cat'"):
        EpisodePool.build({"1": "cat"})


def test_a_class_without_images_is_refused() -> None:
    with pytest.raises(NoImagesOfClassError, match="class 'zebra' has no image"):
        EpisodePool.build(TAGS, classes=["a", "zebra"])


def test_draws_are_uniform_and_samples_without_repeats() -> None:
    draws = Draws(1, "x")
    counts = Counter(draws.below(5) for _ in range(10_000))
    assert all(1800 < counts[value] < 2200 for value in range(5))
    assert sorted(Draws(2).sample(range(9), 9)) == list(range(9))


def test_on_voc07_classes_come_as_in_the_papers_table(real_data: Path) -> None:
    """Person in 28.6 % of the tasks, sheep in 1.4 %: in proportion to images."""
    content = json.loads((real_data / "voc07" / "test.json").read_text())
    names = {category["id"]: category["name"] for category in content["categories"]}
    tags: dict[str, set[str]] = {str(image["id"]): set() for image in content["images"]}
    for annotation in content["annotations"]:
        tags[str(annotation["image_id"])].add(names[annotation["category_id"]])
    pool = EpisodePool.build(tags)
    episodes = EpisodeSampler(pool, 1, 5, seed=0).episodes(2000)
    counts = Counter(episode.classes[0] for episode in episodes)
    pairs = sum(len(images) for images in pool.images.values())
    for label, images in pool.images.items():
        expected = 2000 * len(images) / pairs
        assert abs(counts[label] - expected) < 5 * expected**0.5
    assert 500 < counts["person"] < 650
