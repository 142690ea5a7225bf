"""Boxes follow their photos, and classes that must not be seen vanish."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from PIL import Image

from tag2box.data import Dataset, read_coco
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


@pytest.mark.parametrize(
    ("labels", "complete"),
    [(["truck"], True), (["truck", "person"], False)],
    ids=["nothing else", "a class that is not learned"],
)
def test_a_photo_is_complete_if_all_that_it_shows_is_known(tmp_path: Path, labels: list[str], complete: bool) -> None:
    (example,) = read(one_photo(tmp_path, [TRUCK | {"label": label} for label in labels])).items
    assert example.complete is complete
    assert draw_example(example, tiny_recipe(), np.random.default_rng(0))[1].complete is complete


def test_photos_of_a_file_that_labels_fewer_classes_than_another_may_be_left_out(tmp_path: Path) -> None:
    """Where are its zebras? The novel class that one file has and the other lacks is nobody's concern."""
    both = []
    for name, objects in (("careless", [TRUCK]), ("careful", [TRUCK, ZEBRA])):
        (tmp_path / name).mkdir()
        both.append(read_coco(one_photo(tmp_path / name, objects)))

    def complete(datasets: list[Dataset], *base: str, partial_files: bool = False) -> list[bool]:
        return [item.complete for item in training_examples(datasets, base, (), partial_files=partial_files).items]

    assert complete(both, "zebra", "truck") == [False, True]
    assert complete(both, "zebra", "truck", partial_files=True) == [True, True]
    assert complete(both, "truck") == [True, False]
    assert complete(both, "truck", partial_files=True) == [True, False]
    assert complete(both[:1], "zebra", "truck") == [True]


def test_from_closer_a_part_of_the_photo_is_seen_and_boxes_are_cut_with_it(tmp_path: Path) -> None:
    (example,) = read(one_photo(tmp_path, [TRUCK, CROWD])).items
    recipe = tiny_recipe(image_size=96, zoom=1.5, closest=2.0)
    gone = cut = 0
    for seed in range(60):
        pixels, objects = draw_example(example, recipe, np.random.default_rng(seed))
        green = (pixels[..., 1] > 127) & (pixels[..., 0] < 100)
        if len(objects.boxes):
            x0, y0, x1, y1 = objects.boxes[0].round().int().tolist()
            truck = np.zeros_like(green)
            truck[y0:y1, x0:x1] = True
            assert green[truck].mean() > 0.9  # the box is full of truck, wherever the edge of the picture is
            assert (objects.boxes[0] >= 0).all()
            assert (objects.boxes[0] <= torch.tensor([objects.width, objects.height] * 2)).all()
            cut += int(objects.boxes[0, 0] == 0 or objects.boxes[0, 2] == objects.width)
        else:
            gone += 1
        assert (objects.ignored[:, 2:] > objects.ignored[:, :2]).all()
    assert gone > 0
    assert cut > 0


def test_what_is_hardly_seen_any_more_counts_neither_way(tmp_path: Path) -> None:
    (example,) = read(one_photo(tmp_path, [TRUCK])).items
    recipe = tiny_recipe(image_size=96, closest=3.0)
    hardly = 0
    for seed in range(80):
        pixels, objects = draw_example(example, recipe, np.random.default_rng(seed))
        green = ((pixels[..., 1] > 127) & (pixels[..., 0] < 100)).sum()
        if len(objects.ignored):
            x0, y0, x1, y1 = objects.ignored[0].tolist()
            assert len(objects.boxes) == 0
            hardly += 1
            np.testing.assert_allclose(green, (x1 - x0) * (y1 - y0), rtol=0.25, atol=12)
    assert hardly > 5


def test_colours_change_and_boxes_do_not(tmp_path: Path) -> None:
    (example,) = read(one_photo(tmp_path, [TRUCK])).items
    plain = [draw_example(example, tiny_recipe(), np.random.default_rng(seed)) for seed in range(5)]
    darker = [draw_example(example, tiny_recipe(recolour=0.5), np.random.default_rng(seed)) for seed in range(5)]
    assert all(torch.equal(one[1].boxes, other[1].boxes) for one, other in zip(plain, darker, strict=True))
    assert not any(np.array_equal(one[0], other[0]) for one, other in zip(plain, darker, strict=True))


def test_a_missing_photo_is_named(tmp_path: Path) -> None:
    example = Example(tmp_path / "no.png", 9, 9, np.ones((1, 4)), np.zeros(1, np.int64), np.ones((0, 4)), False)
    with pytest.raises(PhotoError, match=r"no\.png cannot be read"):
        draw_example(example, tiny_recipe(), np.random.default_rng(0))
