"""Planted worlds hold what their settings say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tag2box.boxes import box_overlaps
from tag2box.errors import ShapeError
from tag2box.evaluation import is_correct
from tag2box.sphere import fit_vmf
from tag2box.worlds import DISTRACTOR, World, plant_background, plant_image, plant_task
from tag2box.worlds.images import empty_boxes, half_boxes, object_boxes, shifted_boxes


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
