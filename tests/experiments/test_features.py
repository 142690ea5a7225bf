"""Nearest prototypes: right where classes are apart, chance where they are not."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest

from samples import random_bag, random_units, unit
from tag2box.arrays import Array
from tag2box.boxes import Boxes, box_areas, box_overlaps
from tag2box.data import DatasetImage
from tag2box.errors import PoolTooSmallError
from tag2box.evaluation import ap_101_points, average_precisions, macro_mean, match_coco
from tag2box.experiments.features import (
    LEAST_PROBABILITY,
    base_average_precision,
    centered,
    describe_objects,
    draw_objects,
    feature_parts,
    prototype_accuracy,
)
from tag2box.extract import BOX_GRAPH, PHOTO_GRAPH, Card, TwoGraphs
from tag2box.types import Detections, ProposalBag, Truth

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
    features = np.random.default_rng(0).uniform(1.0, 2.0, size=(6, 3 + embedding + 3))
    parts = feature_parts(features, Card.of(tmp_path, 96, 3, embedding, {"core": True}, {}))
    names = ["features", "backbone part", *(["embedding part"] if embedding else []), "core part"]
    assert list(parts) == [title for name in names for title in (name, f"{name}, centred")]
    for values in parts.values():
        np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1.0)
    np.testing.assert_allclose(parts["backbone part"], unit(features[:, :3]))
    np.testing.assert_allclose(parts["backbone part, centred"], centered(parts["backbone part"]))
    if embedding:
        np.testing.assert_allclose(parts["embedding part"], unit(features[:, 3:5]))
    np.testing.assert_allclose(parts["core part"], unit(features[:, -3:]))


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


def test_an_ignored_object_is_not_drawn_and_the_first_that_counts_is() -> None:
    boxes = np.array([[0, 0, n, n] for n in (1, 2, 3, 4)], dtype=np.float32)
    labels, nothing = np.array(["b", "a", "a", "a"]), np.zeros(4, dtype=bool)
    ignore = np.array([False, True, False, False])
    shown = [DatasetImage(Path("x"), 9, 9, Truth(str(n), boxes, labels, ignore, nothing)) for n in range(15)]
    assert {thing.row for thing in draw_objects(shown, ["a"], seed=0)} == {2}
    assert {thing.row for thing in draw_objects(shown, ["b"], seed=0)} == {0}
    hidden = [DatasetImage(Path("x"), 9, 9, Truth("h", boxes, labels, ~nothing, nothing))]
    with pytest.raises(PoolTooSmallError, match="'a' has 14 images"):
        draw_objects(shown[1:] + hidden, ["a"], seed=0)


def test_a_class_draws_the_same_objects_in_any_company_and_others_with_another_seed() -> None:
    both = [DatasetImage(Path("x"), 9, 9, Truth.plain(str(n), [[0, 0, 5, 5]] * 2, ["a", "b"])) for n in range(100)]

    def drawn(classes: list[str], seed: int) -> list[str]:
        return [thing.image.image_id for thing in draw_objects(both, classes, seed) if thing.label == "a"]

    assert drawn(["a"], 0) == drawn(["b", "a"], 0) != drawn(["a"], 1)


def test_a_prototype_counts_by_its_direction_alone() -> None:
    """Features of ``b`` differ from each other, so that their mean is short; their direction is still the nearest."""
    alike = np.repeat([[0.618, 0.786, *[0.0] * 20]], 20, axis=0)
    apart = np.hstack([np.zeros((20, 1)), np.full((20, 1), 0.7), 0.714 * np.eye(20)])
    accuracy = prototype_accuracy(unit(np.vstack([alike, apart])), ["a"] * 20 + ["b"] * 20, 10, 0)
    assert accuracy.value == 1.0


def test_accuracy_does_not_change_when_all_features_turn_together() -> None:
    rng = np.random.default_rng(1)
    features = unit(np.repeat(random_units(rng, 4, 16), 20, axis=0) + 0.5 * rng.standard_normal((80, 16)))
    turn, _ = np.linalg.qr(rng.standard_normal((16, 16)))
    straight, turned = (prototype_accuracy(rows, LABELS, 30, 5) for rows in (features, features @ turn))
    assert 0.3 < straight.value < 1.0
    assert turned.value == pytest.approx(straight.value)
    assert prototype_accuracy(features, LABELS, 30, 6).value != straight.value


class Painted:
    """Says of a photo what is known of it beforehand: an extractor needs no more to be judged."""

    def __init__(self, bags: dict[str, ProposalBag], classes: list[str], probabilities: Array) -> None:
        self.card = Card(96, 5, 0, {}, {}, {"classes": classes})
        self.bags, self.classes = bags, probabilities
        self.features = np.zeros((0, 5))

    def see_file(self, path: Path) -> str:
        return path.name

    def bag(self, seen: str, image_id: str) -> ProposalBag:
        return self.bags[seen]

    def describe(self, seen: str, boxes: Boxes) -> Painted:
        """A feature is the area of its box."""
        self.features = np.repeat(box_areas(boxes)[:, None], 5, axis=1)
        return self


def painted(seed: int) -> tuple[Painted, list[DatasetImage]]:
    """Six photos of seven regions, with the same probabilities of two classes and of none."""
    rng = np.random.default_rng(seed)
    bags = {f"{n}.jpg": random_bag(rng, image_id=str(n)) for n in range(6)}
    probabilities = rng.dirichlet([0.6, 0.6, 0.6], size=7)
    probabilities[3] = [0.9 * LEAST_PROBABILITY, 0.9, 0.1 - 0.9 * LEAST_PROBABILITY]
    truths = [Truth.plain(bag.image_id, bag.boxes[[1, 3]], ["ant", "bee"]) for bag in bags.values()]
    known = [DatasetImage(Path(name), 100, 100, truth) for name, truth in zip(bags, truths, strict=True)]
    return Painted(bags, ["ant", "bee"], probabilities), known


def test_objects_are_described_by_their_own_boxes_in_order() -> None:
    extractor, known = painted(0)
    drawn = [thing for n in range(3) for thing in draw_objects(known * 3, ["ant", "bee"], n)]
    reports: list[int] = []
    rows = describe_objects(cast(TwoGraphs, extractor), drawn, lambda done, figures: reports.append(done))
    wanted = [box_areas(thing.image.truth.boxes)[thing.row] for thing in drawn]
    np.testing.assert_allclose(rows, np.repeat(np.array(wanted)[:, None], 5, axis=1))
    assert rows.dtype == np.float64
    assert reports == list(range(1, len(drawn) + 1))


@pytest.mark.parametrize("seed", range(5))
def test_base_precision_is_that_of_the_definition(seed: int) -> None:
    """Slowly: region by region, a class it is unlikely to show is not looked for there."""
    extractor, known = painted(seed)
    pairs = []
    for image in known:
        bag, parts = extractor.bags[image.path.name], []
        overlaps = box_overlaps(bag.boxes, bag.boxes)
        for place, label in enumerate(["ant", "bee"]):
            chances = extractor.classes[:, place]
            scores = chances * bag.objectness.astype(np.float64)
            kept: list[int] = []
            for row in np.argsort(-scores).tolist():
                if chances[row] > LEAST_PROBABILITY and (overlaps[row, kept] <= 0.5).all():
                    kept.append(row)
            parts.append(Detections(bag.boxes[kept], scores[kept], np.full(len(kept), label)))
        pairs.append((Detections.joined(parts), image.truth))
    wanted = macro_mean(average_precisions(pairs, ["ant", "bee"], match_coco, ap_101_points))
    reports: list[int] = []
    value = base_average_precision(cast(TwoGraphs, extractor), known, lambda done, figures: reports.append(done))
    assert value == pytest.approx(wanted)
    assert 0.0 < value < 1.0
    assert reports == [1, 2, 3, 4, 5, 6]
