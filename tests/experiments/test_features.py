"""Nearest prototypes: right where classes are apart, chance where they are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from samples import random_units, unit
from tag2box.data import DatasetImage
from tag2box.errors import PoolTooSmallError
from tag2box.experiments.features import centered, draw_objects, feature_parts, prototype_accuracy
from tag2box.extract import BOX_GRAPH, PHOTO_GRAPH, Card
from tag2box.types import Truth

LABELS = [label for label in "abcd" for _ in range(20)]


def test_classes_that_lie_apart_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    means = np.repeat(random_units(rng, 4, 16), 20, axis=0)
    features = unit(means + 0.05 * rng.standard_normal(means.shape))
    assert prototype_accuracy(features, LABELS, 20, 0).value == 1.0


def test_features_that_know_nothing_give_chance() -> None:
    features = random_units(np.random.default_rng(0), 80, 16)
    accuracy = prototype_accuracy(features, LABELS, 200, 0)
    assert 0.15 < accuracy.value < 0.35
    assert accuracy.trials == 200


def test_centring_removes_what_all_share() -> None:
    rng = np.random.default_rng(0)
    features = unit(np.array([10.0, 0.0, 0.0]) + rng.standard_normal((50, 3)))
    moved = centered(features)
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), 1.0)
    assert np.linalg.norm(moved.mean(axis=0)) < 0.3


@pytest.mark.parametrize("embedding", [0, 2])
def test_parts_are_at_length_one_and_seen_twice(tmp_path: Path, embedding: int) -> None:
    for name in (PHOTO_GRAPH, BOX_GRAPH):
        (tmp_path / name).write_bytes(b"never run")
    features = np.random.default_rng(0).uniform(1.0, 2.0, size=(6, 3 + embedding))
    parts = feature_parts(features, Card.of(tmp_path, 96, 3, embedding, {}, {}))
    names = ["features", "backbone part", *(["embedding part"] if embedding else [])]
    assert list(parts) == [title for name in names for title in (name, f"{name}, centred")]
    for values in parts.values():
        np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1.0)
    np.testing.assert_allclose(parts["backbone part"], unit(features[:, :3]))
    np.testing.assert_allclose(parts["backbone part, centred"], centered(parts["backbone part"]))
    if embedding:
        np.testing.assert_allclose(parts["embedding part"], unit(features[:, 3:]))


def images(count: int) -> list[DatasetImage]:
    box = [[0, 0, 5, 5]]
    return [DatasetImage(Path("x"), 9, 9, Truth.plain(str(n), box * 2, ["a", "a"])) for n in range(count)]


def test_one_object_of_a_class_is_drawn_from_an_image() -> None:
    drawn = draw_objects(images(100), ["a"], seed=0)
    assert len(drawn) == 60
    assert len({thing.image.image_id for thing in drawn}) == 60
    assert drawn == draw_objects(images(100), ["a"], seed=0) or [d.image.image_id for d in drawn] == [
        d.image.image_id for d in draw_objects(images(100), ["a"], seed=0)
    ]
    with pytest.raises(PoolTooSmallError, match="'a' has 14 images"):
        draw_objects(images(14), ["a"], seed=0)
