"""Composed photos: the boxes are on the things, and who shares a scene, or a photo, is as it is meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from tag2box.arrays import Array
from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, DatasetImage, read_dataset
from tag2box.errors import PoolTooSmallError
from tag2box.experiments import composed as composing
from tag2box.experiments.composed import (
    BOXES_NAME,
    ROUNDS,
    SIDE,
    Plan,
    Thing,
    compose,
    in_round,
    of_round,
    plan_same_scene,
    plan_three_things,
)
from tag2box.progress import silent
from tag2box.types import Truth

PHOTOS = 3
"""Of a class in a round."""
WIDTH, HEIGHT = 460, 420
COLOURS = {"ant": (250, 10, 10), "bee": (10, 250, 10), "cow": (10, 10, 250)}
MORE = {"doe": (250, 250, 10), "elk": (250, 10, 250), "fox": (10, 250, 250), "gnu": (250, 130, 10)}
SEVEN = COLOURS | MORE
GREYS = (40, 240)
"""Of the photos, from the first to the last."""
Box = tuple[int, int, int, int]


@pytest.fixture(autouse=True, scope="module")
def few_photos() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(composing, "PHOTOS", PHOTOS)
        yield


def painted(
    folder: Path, number: int, grey: int, things: Mapping[Box, str], hidden: Sequence[str] = ()
) -> DatasetImage:
    """A plain photo with plain things; those of the classes ``hidden`` are labelled as difficult."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), (grey, grey, grey))
    for (x0, y0, x1, y1), label in things.items():
        ImageDraw.Draw(picture).rectangle((x0, y0, x1 - 1, y1 - 1), fill=SEVEN.get(label, (200, 0, 200)))
    path = folder / f"{number}.png"
    picture.save(path)
    labels = list(things.values())
    ignore = np.isin(labels, hidden)
    truth = Truth(str(number), list(things), np.array(labels, dtype=np.str_), ignore, np.zeros_like(ignore))  # type: ignore[arg-type]
    return DatasetImage(path, HEIGHT, WIDTH, truth)


def grey_of(number: int, photos: int) -> int:
    return GREYS[0] + (GREYS[1] - GREYS[0]) * number // photos


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Every class has five photos, each with one thing near a corner."""
    folder, labels = tmp_path_factory.mktemp("base"), list(COLOURS) * 5
    images = [
        painted(folder, n, grey_of(n, len(labels)), {(6, 6, 70 + 2 * n, 66): label}) for n, label in enumerate(labels)
    ]
    return Dataset(tuple(COLOURS), tuple(images))


@pytest.fixture(scope="module")
def folder(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("composed") / "photos"
    compose(plan_same_scene(dataset, list(COLOURS)), place, silent)
    return place


@pytest.fixture(scope="module")
def composed(folder: Path) -> Dataset:
    return read_dataset(folder / BOXES_NAME)


def pixels(image: DatasetImage) -> Array:
    with Image.open(image.path) as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.float64)


def grey(image: DatasetImage) -> float:
    """Of the scene: most of a photo is scene."""
    return float(np.median(pixels(image).reshape(-1, 3)))


def scenes_of(composed: Dataset) -> dict[str, float]:
    """Class in its round → the grey of its photos, which they share."""
    found: dict[str, float] = {}
    for image in composed.images:
        (label,) = image.tags
        assert grey(image) == pytest.approx(found.setdefault(label, grey(image)), abs=1.5)
    return found


def test_every_class_has_its_photos_in_every_round(composed: Dataset) -> None:
    assert composed.classes == tuple(in_round(label, number) for number in range(1, ROUNDS + 1) for label in COLOURS)
    shown = [label for image in composed.images for label in image.tags]
    assert sorted(shown) == sorted(list(composed.classes) * PHOTOS)
    assert all(len(image.truth) == 1 for image in composed.images)
    assert {max(image.width, image.height) for image in composed.images} == {SIDE}


def test_the_box_is_on_the_thing(composed: Dataset) -> None:
    for image in composed.images:
        (label,), (box,) = image.tags, image.truth.boxes.round().astype(int).tolist()
        x0, y0, x1, y1 = box
        assert 0 <= x0 < x1 <= image.width
        assert 0 <= y0 < y1 <= image.height
        photo, colour = pixels(image), np.array(COLOURS[label.split(",")[0]])
        quarter = ((x1 - x0) // 4, (y1 - y0) // 4)
        middle = photo[y0 + quarter[1] : y1 - quarter[1], x0 + quarter[0] : x1 - quarter[0]]
        assert np.abs(middle - colour).max() < 40
        coloured = np.ptp(photo, axis=2) > 60  # neither black nor white nor grey
        outside = coloured.copy()
        outside[max(y0 - 4, 0) : y1 + 4, max(x0 - 4, 0) : x1 + 4] = False  # compressed photos smear a little
        assert not outside.any()
        assert coloured[y0:y1, x0:x1].mean() > 0.8  # and the box is no larger than the thing
        assert 0.1 < max(x1 - x0, y1 - y0) / SIDE < 0.45


def test_photos_of_one_class_and_round_share_the_scene_of_one_photo(composed: Dataset) -> None:
    scenes = scenes_of(composed)
    base = [grey_of(n, 15) for n in range(15)]
    assert all(min(abs(one - other) for other in base) < 1.5 for one in scenes.values())
    assert len(scenes) == ROUNDS * len(COLOURS)


def test_two_classes_share_a_scene_in_even_rounds_alone(composed: Dataset) -> None:
    scenes, different = scenes_of(composed), []
    for number in range(1, ROUNDS + 1):
        ant, bee, cow = (scenes[in_round(label, number)] for label in COLOURS)
        assert (abs(ant - bee) < 2) == (number % 2 == 0), number
        assert abs(cow - ant) > 5
        assert abs(cow - bee) > 5  # there is nobody left for it
        different += [cow, ant] if number % 2 == 0 else [ant, bee, cow]
    assert min(np.diff(sorted(different))) > 5  # and no scene is used twice


def test_photos_of_a_class_are_different_things_at_different_places(composed: Dataset) -> None:
    for label in composed.classes:
        boxes = [tuple(image.truth.boxes[0].tolist()) for image in composed.showing([label]).images]
        assert len(set(boxes)) == PHOTOS


def test_the_same_photos_come_out_twice(dataset: Dataset, folder: Path, tmp_path: Path) -> None:
    reported: list[int] = []
    plans = plan_same_scene(dataset, list(reversed(COLOURS)))
    compose(plans, tmp_path / "again", lambda done, _: reported.append(done))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()
    }
    assert reported == list(range(1, ROUNDS * len(COLOURS) + 1))


def test_a_round_has_its_own_classes_and_photos(composed: Dataset) -> None:
    rounds = [of_round(composed, number) for number in range(1, ROUNDS + 1)]
    for number, one in enumerate(rounds, 1):
        assert one.classes == tuple(in_round(label, number) for label in COLOURS)
        assert len(one) == PHOTOS * len(COLOURS)
        assert all(image.tags <= set(one.classes) for image in one.images)
    together = [image.image_id for one in rounds for image in one.images]
    assert sorted(together) == sorted(image.image_id for image in composed.images)
    assert not of_round(composed, ROUNDS + 1).images


def test_only_what_is_large_and_whole_and_in_front_is_cut_out(tmp_path: Path) -> None:
    """Every class but the ant has something that makes its things useless; a class with too few is left out."""
    good, images = (100, 100, 170, 170), list[DatasetImage]()
    spoiled: dict[str, dict[Box, str]] = {
        "small": {(100, 100, 147, 170): "small"},
        "cut off": {(0, 100, 70, 170): "cut off"},
        "below the edge": {(100, HEIGHT - 70, 170, HEIGHT): "below the edge"},
        "difficult": {good: "difficult"},
        "behind": {good: "behind", (150, 80, 230, 190): "other"},
        "holding": {good: "holding", (120, 120, 150, 150): "other"},
        "ant": {good: "ant", (250, 100, 290, 170): "other"},
    }
    for things in spoiled.values():
        for _ in range(PHOTOS):
            images.append(painted(tmp_path, len(images), 90, things, ["difficult"]))
    images.append(painted(tmp_path, len(images), 90, {good: "rare"}))
    dataset = Dataset((*spoiled, "rare", "other"), tuple(images))
    compose(plan_same_scene(dataset, [*spoiled, "rare"]), tmp_path / "composed", silent)
    composed = read_dataset(tmp_path / "composed" / BOXES_NAME)
    assert composed.classes == tuple(in_round("ant", number) for number in range(1, ROUNDS + 1))


def test_without_a_place_for_a_scene_nothing_is_planned(tmp_path: Path) -> None:
    """Things in the middle leave windows that are too narrow, and other photos are too small."""
    crowded = [painted(tmp_path, n, 90, {(150, 100, 310, 320): "ant"}) for n in range(PHOTOS)]
    with pytest.raises(PoolTooSmallError, match="of 0 photos with room for a scene"):
        plan_same_scene(Dataset(("ant",), tuple(crowded)), ["ant"])
    roomy = [painted(tmp_path, n, 90, {(6, 6, 70, 70): "ant"}) for n in range(PHOTOS)]
    with pytest.raises(PoolTooSmallError, match=r"4 scenes .* of 3 photos"):
        plan_same_scene(Dataset(("ant",), tuple(roomy)), ["ant"])


def test_without_things_to_cut_out_nothing_is_planned(dataset: Dataset) -> None:
    with pytest.raises(PoolTooSmallError, match="0 scenes with things on them"):
        plan_same_scene(dataset, ["dodo"])


# Three things in every photo


@pytest.fixture(scope="module")
def threes(tmp_path_factory: pytest.TempPathFactory) -> list[Plan]:
    """Seven classes have four photos each, with one thing near a corner."""
    folder, labels = tmp_path_factory.mktemp("seven"), list(SEVEN) * 4
    images = [
        painted(folder, n, grey_of(n, len(labels)), {(6, 6, 70 + 2 * n, 66): label}) for n, label in enumerate(labels)
    ]
    return plan_three_things(Dataset(tuple(SEVEN), tuple(images)), list(SEVEN))


def test_three_kinds_of_things_are_together_and_nobody_is_so_twice(threes: list[Plan]) -> None:
    """Of seven classes one is left over."""
    labels = [label for plan in threes for label in plan.classes]
    assert [len(plan.classes) for plan in threes] == [3, 3]
    assert len(set(labels)) == 6
    assert set(labels) < set(SEVEN)
    for plan in threes:
        for things in plan.things:
            assert len(set(things)) == PHOTOS  # another thing in every photo
        colours = {label: {colour_of(thing) for thing in some} for label, some in zip(*plan[:2], strict=True)}
        assert colours == {label: {SEVEN[label]} for label in plan.classes}


def colour_of(thing: Thing) -> tuple[int, ...]:
    with Image.open(thing.photo) as picture:
        return tuple(int(value) for value in np.asarray(picture.convert("RGB").crop(thing.box))[20, 20])


def test_every_photo_of_three_things_has_a_scene_of_its_own(threes: list[Plan]) -> None:
    scenes = [scene.photo for plan in threes for scene in plan.scenes]
    assert len(scenes) == len(set(scenes)) == 2 * PHOTOS


def test_things_of_one_photo_are_beside_each_other(threes: list[Plan], tmp_path: Path) -> None:
    compose(threes, tmp_path / "photos", silent)
    composed = read_dataset(tmp_path / "photos" / BOXES_NAME)
    assert composed.classes == tuple(label for plan in threes for label in plan.classes)
    assert [image.tags for image in composed.images] == [set(plan.classes) for plan in threes for _ in range(PHOTOS)]
    greys = sorted(grey(image) for image in composed.images)
    assert min(np.diff(greys)) > 3  # as planned, no two photos show one scene
    for image in composed.images:
        assert len(image.truth) == 3
        overlaps = box_overlaps(image.truth.boxes, image.truth.boxes)
        np.testing.assert_array_equal(overlaps > 0, np.eye(3, dtype=bool))
        for label, (x0, y0, x1, y1) in zip(image.truth.labels, image.truth.boxes.astype(int).tolist(), strict=True):
            middle = pixels(image)[(y0 + y1) // 2, (x0 + x1) // 2]
            assert np.abs(middle - SEVEN[label]).max() < 40
    boxes = {tuple(image.truth.boxes[0].tolist()) for image in composed.images}
    assert len(boxes) == 2 * PHOTOS  # each time elsewhere


def test_where_there_is_no_room_things_lie_on_each_other_and_inside_the_photo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(composing, "SHARE", (0.9, 1.0))
    folder = tmp_path / "base"
    folder.mkdir()
    images = [painted(folder, n, 90 + n, {(6, 6, 76, 200): label}) for n, label in enumerate(list(COLOURS) * PHOTOS)]
    compose(plan_three_things(Dataset(tuple(COLOURS), tuple(images)), list(COLOURS)), tmp_path / "photos", silent)
    composed = read_dataset(tmp_path / "photos" / BOXES_NAME)
    assert len(composed) == PHOTOS
    for image in composed.images:
        boxes = image.truth.boxes
        assert len(boxes) == 3
        assert (boxes[:, :2] >= 0).all()
        assert (boxes[:, 2:] <= [image.width, image.height]).all()


def test_fewer_than_three_kinds_cannot_be_together(dataset: Dataset) -> None:
    with pytest.raises(PoolTooSmallError, match="0 scenes with things on them"):
        plan_three_things(dataset, ["ant", "bee"])
