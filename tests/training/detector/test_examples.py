"""Boxes follow their photos, and classes that must not be seen vanish."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from tag2box.data import read_coco
from tag2box.errors import PhotoError, TrainingError
from tag2box.extract.photos import GREY
from tag2box.training.detector.examples import Example, Examples, draw_example, training_examples
from tiny_training import tiny_recipe

GREEN = (0, 255, 0)
CATEGORIES = ("person", "truck", "zebra")


def one_photo(folder: Path, objects: list[dict[str, Any]], width: int = 100, height: int = 60) -> Path:
    """A black photo; each object is painted green."""
    picture = Image.new("RGB", (width, height))
    for entry in objects:
        x, y, w, h = entry["bbox"]
        picture.paste(GREEN, (x, y, x + w, y + h))
    picture.save(folder / "photo.png")
    image = {"id": 1, "file_name": "photo.png", "height": height, "width": width}
    annotations = [{"image_id": 1, "category_id": CATEGORIES.index(e["label"]), **e} for e in objects]
    content = {
        "images": [image],
        "annotations": annotations,
        "categories": [{"id": number, "name": name} for number, name in enumerate(CATEGORIES)],
    }
    path = folder / "boxes.json"
    path.write_text(json.dumps(content))
    return path


def read(path: Path, held_out: tuple[str, ...] = ()) -> Examples:
    return training_examples([read_coco(path)], ("zebra", "truck"), held_out)


TRUCK, ZEBRA = {"label": "truck", "bbox": [10, 10, 20, 30]}, {"label": "zebra", "bbox": [50, 10, 30, 30]}
PERSON, CROWD = {"label": "person", "bbox": [80, 0, 20, 60]}, {"label": "truck", "bbox": [0, 50, 99, 9], "iscrowd": 1}
HARD = {"label": "zebra", "bbox": [90, 2, 8, 9], "difficult": 1}


def test_novel_objects_vanish_and_photos_of_held_out_classes_with_all_they_show(tmp_path: Path) -> None:
    path = one_photo(tmp_path, [TRUCK, ZEBRA, PERSON])
    everything = read(path)
    assert everything.classes == ("truck", "zebra")
    assert everything.items[0].labels.tolist() == [0, 1]
    assert everything.items[0].boxes.tolist() == [[10, 10, 30, 40], [50, 10, 80, 40]]
    assert everything.items[0].ignored.shape == (0, 4)
    with pytest.raises(TrainingError, match="none of the photos"):
        read(path, ("truck",))  # the zebra stands beside a truck, which the detector must never see
    held = read(one_photo(tmp_path, [ZEBRA, PERSON]), ("truck",))
    assert held.classes == ("zebra",)
    assert held.items[0].boxes.tolist() == [[50, 10, 80, 40]]
    assert held.items[0].labels.tolist() == [0]
    assert held.items[0].ignored.shape == (0, 4)


def test_photos_that_show_nothing_else_are_left_out(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="none of the photos shows a labelled object"):
        read(one_photo(tmp_path, [TRUCK, PERSON]), ("truck",))


def test_crowds_and_difficult_objects_are_ignored(tmp_path: Path) -> None:
    (example,) = read(one_photo(tmp_path, [CROWD, TRUCK, HARD])).items
    assert example.labels.tolist() == [0]
    assert example.ignored.tolist() == [[0, 50, 99, 59], [90, 2, 98, 11]]


def frame(pixels: npt.NDArray[np.uint8]) -> list[float]:
    """The box around everything green."""
    rows, columns = np.nonzero((pixels[..., 1] > 127) & (pixels[..., 0] < 100))
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


@pytest.mark.parametrize(("width", "height"), [(100, 60), (60, 100), (90, 90)])
@pytest.mark.parametrize("stretch", [False, True])
def test_the_box_still_frames_the_object(tmp_path: Path, width: int, height: int, stretch: bool) -> None:
    (example,) = read(one_photo(tmp_path, [TRUCK], width, height)).items
    recipe = tiny_recipe(image_size=96, zoom=1.5, stretch_squares=stretch)
    sizes, mirrored = set(), 0
    for seed in range(40):
        pixels, objects = draw_example(example, recipe, np.random.default_rng(seed))
        assert pixels.shape == (96, 96, 3)
        np.testing.assert_allclose(objects.boxes[0], frame(pixels), atol=1.2)
        assert (pixels[objects.height :] == GREY).all()
        assert (pixels[:, objects.width :] == GREY).all()
        sizes.add((objects.height, objects.width))
        mirrored += int(objects.boxes[0, 0] + objects.boxes[0, 2] > objects.width)
    longest = [max(size) for size in sizes]
    assert min(longest) < 70
    assert max(longest) > 90
    assert 10 <= mirrored <= 30
    wanted = {3 / 4, 4 / 3} if stretch and width == height else {width / height}
    nearest = [min(wanted, key=lambda ratio: abs(ratio - size[1] / size[0])) for size in sizes]
    assert [size[1] / size[0] for size in sizes] == pytest.approx(nearest, abs=0.04)
    assert set(nearest) == wanted


def test_the_same_draw_is_the_same_picture(tmp_path: Path) -> None:
    (example,) = read(one_photo(tmp_path, [TRUCK])).items
    draws = [draw_example(example, tiny_recipe(), np.random.default_rng(5)) for _ in range(2)]
    np.testing.assert_array_equal(draws[0][0], draws[1][0])
    np.testing.assert_array_equal(draws[0][1].boxes, draws[1][1].boxes)


def test_objects_that_are_too_small_become_ignored(tmp_path: Path) -> None:
    """A side of 5 of 100 pixels is 3.2 of 64, less than the 4 that count."""
    (example,) = read(one_photo(tmp_path, [{"label": "truck", "bbox": [10, 10, 5, 40]}, ZEBRA, CROWD])).items
    _, objects = draw_example(example, tiny_recipe(zoom=1.0), np.random.default_rng(0))
    assert objects.labels.tolist() == [1]
    assert len(objects.boxes) == 1
    assert len(objects.ignored) == 2
    widths = objects.ignored[:, 2] - objects.ignored[:, 0]
    np.testing.assert_allclose(widths, [99 * 0.64, 5 * 0.64], atol=0.1)


def test_a_photo_is_complete_if_no_other_labelled_class_is_in_it(tmp_path: Path) -> None:
    for labels, complete in ((["truck"], True), (["truck", "person"], False)):
        folder = tmp_path / "-".join(labels)
        folder.mkdir()
        (example,) = read(one_photo(folder, [TRUCK | {"label": label} for label in labels])).items
        assert example.complete is complete
        assert draw_example(example, tiny_recipe(), np.random.default_rng(0))[1].complete is complete


def test_a_missing_photo_is_named(tmp_path: Path) -> None:
    example = Example(tmp_path / "no.png", 9, 9, np.ones((1, 4)), np.zeros(1, np.int64), np.ones((0, 4)), False)
    with pytest.raises(PhotoError, match=r"no\.png cannot be read"):
        draw_example(example, tiny_recipe(), np.random.default_rng(0))
