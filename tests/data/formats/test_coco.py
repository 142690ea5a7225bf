"""COCO: tags, which need neither boxes nor sizes, the boxes of a run, and results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tag2box.data import FoundBox, LabelledPhoto, LabelledPhotos, read_coco, read_tags, read_truth
from tag2box.data.formats.coco import read_boxes, write_boxes
from tag2box.data.formats.coco_results import coco_results, ids_from, ids_in_order, read_results
from tag2box.errors import RunError, TagsError
from tag2box.types import Detections

Write = Callable[[Mapping[str, str | bytes]], Path]
COCO: dict[str, Any] = {
    "images": [{"id": 7, "file_name": "b.jpg"}, {"id": "x", "file_name": "sub/a.jpg"}, {"id": 9, "file_name": "c.jpg"}],
    "annotations": [
        {"image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 4]},
        {"image_id": 7, "category_id": 3},
        {"image_id": 7, "category_id": 4, "iscrowd": 1},
        {"image_id": "x", "category_id": 4},
    ],
    "categories": [{"id": 3, "name": "cat"}, {"id": 4, "name": " dog "}, {"id": 5, "name": "unseen"}],
}
PHOTOS = ("b.jpg", "sub/a.jpg", "c.jpg")


@pytest.mark.parametrize(
    ("file", "folder"),
    [
        ("boxes.json", ""),
        ("boxes.json", "images/"),
        ("annotations/instances_val2017.json", "val2017/"),
        ("annotations/instances_val2017.json", "images/val2017/"),
        ("annotations/instances_default.json", "images/"),
    ],
)
def test_photos_have_the_categories_of_their_annotations(write: Write, file: str, folder: str) -> None:
    place = write({file: json.dumps(COCO), **{folder + name: name for name in PHOTOS}})
    tags = read_tags(place / file)
    assert {photo.name: set(photo.tags) for photo in tags.photos} == {
        "b.jpg": {"cat", "dog"},
        "c.jpg": set(),
        "sub/a.jpg": {"dog"},
    }
    assert (tags.folder, tags.classes, tags.source) == (place / folder, ("cat", "dog"), "COCO")


def changed(key: str, value: Any) -> str:
    return json.dumps({**COCO, key: value})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not JSON"),
        (json.dumps(COCO)[:-30], "is not JSON"),
        ('{"a":' * 100_000, "is not JSON"),
        (b"\xff\xfe{", "is not UTF-8: byte 0, in line 1"),
        ("7", r"boxes\.json is the value 7"),
        ("{}", r"boxes\.json has no images"),
        ('{"images": []}', "has no categories"),
        (changed("images", {}), "images of .* is an object"),
        (changed("images", [5]), "image 1 of .* is the value 5"),
        (changed("images", [{"id": 7}]), "annotation 4 of .* has the image_id 'x', which"),
        (changed("images", [{"file_name": "b.jpg"}]), "image 1 of .* has no id"),
        (changed("images", [{"id": [7], "file_name": "b.jpg"}]), "id of image 1 .* is a list"),
        (changed("images", [{"id": 7, "file_name": "b.jpg"}] * 2), "two images the same id"),
        (changed("images", [*COCO["images"], {"id": 10, "file_name": "b.jpg"}]), "twice: in image 1 and in image 4"),
        (
            changed("images", [*COCO["images"], {"id": 10, "file_name": "d.jpg"}]),
            r"image 4: there is no photo '.*d\.jpg'",
        ),
        (changed("images", [*COCO["images"], {"id": 10, "file_name": None}]), "file_name of image 4 .* is nothing"),
        (changed("images", [*COCO["images"], {"id": 10, "file_name": "../d.jpg"}]), "does not stay in its folder"),
        (changed("images", [*COCO["images"], {"id": 10, "file_name": "/d.jpg"}]), "does not stay in its folder"),
        (changed("annotations", None), "annotations of .* is nothing"),
        (changed("annotations", [{"image_id": 7, "category_id": 99}]), "annotation 1 .* category_id 99, which"),
        (changed("annotations", [{"image_id": 7}]), "annotation 1 .* has no category_id"),
        (changed("annotations", []), "no photo in .* has a tag; it has 3 without"),
        (changed("categories", [{"id": 3, "name": 5}]), "name of category 1 .* is the value 5"),
        (changed("categories", "cat"), "categories of .* is a text"),
    ],
)
def test_a_file_with_a_fault_is_refused_at_its_place(write: Write, content: str | bytes, message: str) -> None:
    with pytest.raises(TagsError, match=message):
        read_tags(write({"boxes.json": content, **{name: name for name in PHOTOS}}) / "boxes.json")


def test_the_real_files_have_the_tags_of_their_boxes(real_data: Path) -> None:
    path = real_data / "voc07" / "test.json"
    boxes = {str(image.path): set(image.truth.labels.tolist()) for image in read_coco(path).images}
    assert {str(photo.path): set(photo.tags) for photo in read_tags(path).photos} == boxes


@pytest.mark.parametrize("folder", ["", "images/", "../val/", "../images/val/", "../images/"])
def test_photos_are_searched_in_the_same_places_for_tags_and_for_truth(write: Write, folder: str) -> None:
    content = {**COCO, "images": [image | {"height": 9, "width": 9} for image in COCO["images"]]}
    content["annotations"] = [{"image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 4]}]
    file = write({"in/instances_val.json": json.dumps(content)}) / "in" / "instances_val.json"
    write({f"in/{folder}{name}": "" for name in PHOTOS})
    assert {image.path for image in read_truth(file).images} == {photo.path for photo in read_tags(file).photos}


RUN = LabelledPhotos(
    Path("/photos"),
    ("cup", "pen"),
    (
        LabelledPhoto("a.jpg", 30, 40, (FoundBox("cup", (1.5, 2.0, 30.0, 20.25), 0.9, 0.1, 0.05),), ("cup", "fork")),
        LabelledPhoto("b.jpg", 30, 40, (), ("fork",)),
        LabelledPhoto("_none/c.jpg", 30, 40, (), ()),
        LabelledPhoto("d.jpg", 30, 40, ()),
    ),
)


def test_the_boxes_of_a_run_come_back_with_what_a_person_said(tmp_path: Path) -> None:
    write_boxes(tmp_path / "boxes.json", RUN, {"extractor": "x"})
    assert read_boxes(tmp_path) == read_boxes(tmp_path / "boxes.json") == RUN
    assert [photo.shows_something for photo in RUN.photos] == [True, True, False, False]


def test_the_boxes_of_an_older_run_are_read(tmp_path: Path) -> None:
    """They say neither what a person gave nor how likely a thing is absent."""
    write_boxes(tmp_path / "boxes.json", RUN, {})
    content = json.loads((tmp_path / "boxes.json").read_text())
    for entry in content["images"]:
        entry.pop("tags", None)
    for entry in content["annotations"]:
        del entry["absence"]
    (tmp_path / "boxes.json").write_text(json.dumps(content))
    first = read_boxes(tmp_path).photos[0]
    assert (first.tags, first.boxes[0].absence, first.boxes[0].doubt) == (None, 0.0, 0.1)


def truth_file(folder: Path) -> Path:
    images = [{"id": 40 - n, "file_name": f"sub/{n}.jpg", "height": 20, "width": 30} for n in range(3)]
    annotation = {"id": 1, "image_id": 39, "category_id": 7, "bbox": [1, 2, 3, 4]}
    categories = [{"id": 9, "name": "cup"}, {"id": 7, "name": " cafe\u0301"}]
    path = folder / "truth.json"
    path.write_text(json.dumps({"images": images, "annotations": [annotation], "categories": categories}))
    return path


def test_results_have_the_ids_of_the_truth_and_a_mark(tmp_path: Path) -> None:
    ids = ids_from(truth_file(tmp_path), ["2.jpg", "sub/0.jpg"], ["café", "cup"])
    assert tuple(ids) == ({"2.jpg": 38, "sub/0.jpg": 40}, {"café": 7, "cup": 9})
    found = Detections.ranked([[1.0, 2.0, 4.0, 6.0], [0.0, 0.0, 1.5, 1.0]], [0.5, 0.4999999], ["café", "cup"])
    first, second = coco_results("2.jpg", found, ids)
    assert first == {
        "image_id": 38,
        "category_id": 7,
        "bbox": [1, 2, 3, 4],
        "score": 0.5,
        "found": True,
        "category_name": "café",
        "file_name": "2.jpg",
    }
    assert (second["category_id"], second["found"]) == (9, False)
    (tmp_path / "results.json").write_text(json.dumps([first, second]))
    read = read_results(tmp_path / "results.json")
    assert read == {"2.jpg": [one._replace(score=round(one.score, 6)) for one in found]}


def test_detections_write_themselves_by_the_same_rule(tmp_path: Path) -> None:
    ids = ids_from(truth_file(tmp_path), ["2.jpg"], ["café", "cup"])
    found = Detections.ranked([[1.25, 2.5, 4.0, 6.0]], [0.5], ["cup"])
    (own,) = found.to_coco(38, {"cup": 9})
    (entry,) = coco_results("2.jpg", found, ids)
    assert own == {key: entry[key] for key in own}


def test_without_a_truth_results_are_numbered_in_order() -> None:
    ids = ids_in_order(["b.jpg", "a.jpg"], ["pen", "cup"])
    assert tuple(ids) == ({"b.jpg": 1, "a.jpg": 2}, {"pen": 1, "cup": 2})
    many = Detections.ranked([[0, 0, 1, 1]] * 150, [0.5] * 150, ["cup"] * 150)
    assert len(coco_results("a.jpg", many, ids)) == 100


@pytest.mark.parametrize(
    ("names", "labels", "message"),
    [(["9.jpg"], ["cup"], "has no photo '9.jpg'"), (["1.jpg"], ["cup", "fork"], "does not know 'fork'")],
)
def test_ids_that_the_truth_does_not_have_are_refused(
    tmp_path: Path, names: list[str], labels: list[str], message: str
) -> None:
    with pytest.raises(RunError, match=message):
        ids_from(truth_file(tmp_path), names, labels)
