"""Planted worlds hold what their settings say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.boxes import box_overlaps
from tag2box.errors import ShapeError
from tag2box.evaluation import is_correct
from tag2box.sphere import fit_vmf
from tag2box.worlds import DISTRACTOR, World, plant_background, plant_image, plant_task
from tag2box.worlds.images import HEIGHT, WIDTH, empty_boxes, half_boxes, object_boxes, shifted_boxes

seeds = st.integers(0, 2**32 - 1)


def test_the_same_seed_is_the_same_task() -> None:
    first, second, other = plant_task(World(), 3), plant_task(World(), 3), plant_task(World(), 4)
    np.testing.assert_array_equal(first.support[2].bag.features, second.support[2].bag.features)
    np.testing.assert_array_equal(first.queries[0].truth.boxes, second.queries[0].truth.boxes)
    assert not np.array_equal(first.support[0].bag.boxes[1:3], other.support[0].bag.boxes[1:3])
    assert not np.array_equal(plant_background(World(), 3), plant_background(World(seed=1), 3))


def test_a_task_has_its_ways_shots_and_queries() -> None:
    task = plant_task(World(), 0, ways=3, shots=4, queries=2)
    assert len(task.classes) == len(set(task.classes)) == 3
    assert len(task.support) == 12
    assert len(task.queries) == 6
    for label in task.classes:
        assert sum(label in image.tags for image in task.support) >= 4


def test_every_image_shows_what_its_tags_say_and_has_right_and_wrong_regions() -> None:
    world = World()
    for seed in range(20):
        for image in plant_task(world, seed, ways=2).support:
            for label in image.tags:
                right = [is_correct(box, image.truth, label) for box in image.bag.boxes]
                assert 1 + world.near_duplicates <= sum(right) <= 2 * (1 + world.near_duplicates)
                assert not right[0]


def test_knobs_are_obeyed() -> None:
    rng = np.random.default_rng(0)
    world = World(instances=(3, 3), distractors=(2, 2), regions=(10, 10), near_duplicates=0, parts=1)
    image = plant_image(world, "a", [world.names[0]], rng)
    assert image.truth.labels.tolist() == [world.names[0]] * 3 + [DISTRACTOR] * 2
    assert len(image.bag) == 1 + 5 * 2 + 10


def test_wrong_tags_come_as_often_as_asked() -> None:
    world, rng = World(wrong_tags=0.3, regions=(1, 1)), np.random.default_rng(1)
    images = [plant_image(world, str(number), [world.names[0]], rng) for number in range(300)]
    wrong = [world.names[0] not in image.truth.labels for image in images]
    assert 0.2 < np.mean(wrong) < 0.4
    assert all(image.tags == (world.names[0],) for image in images)


def test_objects_of_a_class_are_as_alike_as_asked() -> None:
    rng = np.random.default_rng(2)
    for kappa in (50.0, 500.0):
        world = World(object_kappa=kappa)
        features = np.stack([world.object_feature(world.names[0], rng) for _ in range(400)])
        assert fit_vmf(features).kappa == pytest.approx(kappa, rel=0.1)


def test_the_cone_crowds_all_features() -> None:
    wide, narrow = (plant_background(World(cone=cone), 500).mean(axis=0) for cone in (0.1, 0.9))
    assert np.linalg.norm(narrow) > np.linalg.norm(wide) + 0.2


def test_layouts_keep_their_overlaps() -> None:
    rng = np.random.default_rng(3)
    objects = object_boxes(6, rng)
    assert (box_overlaps(objects, objects) - np.eye(6) <= 1e-12).all()
    for box in objects:
        assert (box_overlaps(box[None], shifted_boxes(box, 200, rng)) > 0.6).all()
        np.testing.assert_allclose(box_overlaps(box[None], half_boxes(box, 20, rng)), 0.45)
    assert (box_overlaps(empty_boxes(objects, 200, rng), objects) < 0.3).all()


def test_too_many_objects_are_refused() -> None:
    world = replace(World(), instances=(3, 3), distractors=(0, 0))
    with pytest.raises(ShapeError, match="would show 15 objects"):
        plant_image(world, "a", world.names[:5], np.random.default_rng(0))


def test_three_instances_of_two_classes_and_three_distractors_have_room() -> None:
    world = World(instances=(1, 3), distractors=(0, 3))
    for seed in range(40):
        assert len(plant_task(world, seed, ways=3, shots=2).support) == 6


@pytest.mark.parametrize(
    "settings",
    [{"seed": -1}, {"instances": (3, 1)}, {"classes": 0}, {"object_kappa": 0.0}, {"wrong_tags": float("nan")}],
)
def test_worlds_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ShapeError):
        World(**settings)


def test_more_ways_than_classes_are_refused() -> None:
    with pytest.raises(ShapeError, match="classes of the world is 12"):
        plant_task(World(), 0, ways=13)


def test_a_rectified_world_has_no_negative_features() -> None:
    world = World(rectified=True)
    assert (plant_task(world, 0).support[0].bag.features >= 0).all()
    assert (plant_background(world, 10) >= 0).all()


@given(seeds, st.integers(0, 12))
def test_no_region_is_right_for_an_object_that_it_was_not_made_for(seed: int, count: int) -> None:
    """Also in a full image, and at its edges, where a shifted box is cut."""
    rng = np.random.default_rng(seed)
    objects = object_boxes(count, rng)
    for own, box in enumerate(objects):
        near, halves = shifted_boxes(box, 5, rng), half_boxes(box, 5, rng)
        others = np.delete(objects, own, axis=0)
        for regions in (near, halves):
            assert (box_overlaps(regions, others) < 0.5).all()
            assert ((regions >= 0) & (regions <= [WIDTH, HEIGHT, WIDTH, HEIGHT])).all()
        assert ((halves[:, :2] >= box[:2] - 1e-9) & (halves[:, 2:] <= box[2:] + 1e-9)).all()
    empty = empty_boxes(objects, 30, rng)
    assert empty.shape == (30, 4)
    assert ((empty >= 0) & (empty <= [WIDTH, HEIGHT, WIDTH, HEIGHT])).all()
    assert (box_overlaps(empty, objects) < 0.3).all()


@given(seeds, st.sampled_from([(0.0, 0.0), (WIDTH - 60.0, HEIGHT - 60.0)]))
def test_a_box_in_the_corner_of_an_image_keeps_its_duplicates(seed: int, corner: tuple[float, float]) -> None:
    box = np.array([*corner, corner[0] + 60.0, corner[1] + 60.0])
    assert (box_overlaps(box[None], shifted_boxes(box, 50, np.random.default_rng(seed))) > 0.6).all()


def test_a_quarter_of_the_images_shows_a_second_class_of_the_task() -> None:
    world, company = World(dimension=16, regions=(1, 1)), []
    for seed in range(25):
        task = plant_task(world, seed, ways=3, shots=5, queries=2)
        for image in (*task.support, *task.queries):
            assert set(image.tags) <= set(task.classes)
            assert len(set(image.tags)) == len(image.tags)
            assert set(image.tags) == set(image.truth.labels.tolist()) - {DISTRACTOR}
            company.append(len(image.tags) == 2)
        alone = plant_task(world, seed)
        assert {image.tags for image in alone.support} == {alone.classes}
    assert 0.2 < np.mean(company) < 0.3


def test_every_image_of_a_task_has_a_name_of_its_own() -> None:
    task = plant_task(World(regions=(1, 1)), 0, ways=3, shots=4, queries=2)
    names = [image.bag.image_id for image in (*task.support, *task.queries)]
    assert len(set(names)) == len(names) == 18
    assert names == [image.truth.image_id for image in (*task.support, *task.queries)]


@pytest.mark.parametrize("cone", [0.0, 0.6, 0.95])
def test_every_class_lies_at_the_angle_that_the_cone_says(cone: float) -> None:
    world, rng = World(cone=cone, object_kappa=1e6), np.random.default_rng(0)
    middle = np.full(world.dimension, world.dimension**-0.5)
    found = [world.object_feature(name, rng) @ middle for name in world.names]
    np.testing.assert_allclose(found, cone, atol=0.01)


def test_a_class_looks_the_same_in_every_task_of_a_world_and_different_in_another_world() -> None:
    def direction(world: World, seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        mean = np.mean([world.object_feature("class-00", rng) for _ in range(200)], axis=0)
        return mean / np.linalg.norm(mean)

    here, again, elsewhere = direction(World(), 0), direction(World(), 1), direction(World(seed=1), 0)
    assert here @ again > 0.99
    assert here @ elsewhere < 0.7


def test_a_rectified_world_is_the_same_world_with_its_negatives_cut() -> None:
    plain, cut = (plant_task(World(rectified=rectified), 3).support[0] for rectified in (False, True))
    np.testing.assert_array_equal(cut.bag.boxes, plain.bag.boxes)
    raw = np.maximum(plain.bag.features * plain.bag.norms[:, None], 0.0)
    np.testing.assert_allclose(cut.bag.features * cut.bag.norms[:, None], raw, atol=1e-6)
    assert (plain.bag.features < 0).any()


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_an_image_with_a_wrong_tag_shows_none_of_its_tags(share: float) -> None:
    world, rng = World(wrong_tags=share, regions=(1, 1)), np.random.default_rng(0)
    for number in range(30):
        image = plant_image(world, str(number), world.names[:2], rng)
        assert image.tags == world.names[:2]
        assert set(image.truth.labels.tolist()) - {DISTRACTOR} == (set() if share else set(world.names[:2]))
