"""Tags and boxes from exports of Label Studio, as JSON and as JSON-MIN."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tag2box.data import Dataset, read_tags, read_truth
from tag2box.errors import DatasetError, TagsError

Write = Callable[[Mapping[str, str | bytes]], Path]


def task(image: Any, *values: Any, **fields: Any) -> dict[str, Any]:
    result = [{"value": value, "type": "rectanglelabels"} for value in values]
    return {"id": 1, "data": {"image": image}, "annotations": [{"result": result, **fields}]}


def tags_of(place: Path, tasks: Any) -> dict[str, set[str]]:
    (place / "export.json").write_text(json.dumps(tasks))
    tags = read_tags(place / "export.json")
    assert tags.source == "Label Studio"
    return {photo.name: set(photo.tags) for photo in tags.photos}


def test_a_full_export_has_labels_and_choices(write: Write) -> None:
    place = write({name: name for name in ("a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg")})
    mask = {"x": 1, "y": 2, "width": 3, "rectanglelabels": ["dog", "pet"], "text": ["a word"]}
    tasks = [
        task("a.jpg", mask, {"rectanglelabels": ["ball"]}),
        task("b.jpg", {"choices": ["cat"]}, {"labels": [" dog "]}),
        task("c.jpg"),
        {"data": {"image": "d.jpg"}, "annotations": []},
        task("e.jpg", mask, was_cancelled=True),
    ]
    tasks[0]["annotations"][0]["result"].append({"type": "relation", "from_id": "x", "to_id": "y"})
    assert tags_of(place, tasks) == {"a.jpg": {"ball", "dog", "pet"}, "b.jpg": {"cat", "dog"}, "c.jpg": set()}


def test_annotators_are_heard_together(write: Write) -> None:
    both = task("a.jpg", {"choices": ["cat"]})
    both["annotations"] += task("a.jpg", {"choices": ["dog"]})["annotations"]
    assert tags_of(write({"a.jpg": "a"}), [both]) == {"a.jpg": {"cat", "dog"}}


def test_a_short_export_has_lists_and_texts(write: Write) -> None:
    place = write({name: name for name in ("a.jpg", "b.jpg", "c.jpg", "d.jpg")})
    tasks = [
        {"image": "a.jpg", "label": [{"x": 1, "rectanglelabels": ["dog"]}, {"x": 2, "rectanglelabels": ["ball"]}]},
        {"image": "b.jpg", "choice": "cat"},
        {"image": "c.jpg", "choice": {"choices": ["cat", "dog"]}},
        {"image": "d.jpg", "annotator": 1},
    ]
    assert tags_of(place, tasks) == {
        "a.jpg": {"ball", "dog"},
        "b.jpg": {"cat"},
        "c.jpg": {"cat", "dog"},
        "d.jpg": set(),
    }


@pytest.mark.parametrize(
    ("file", "reference"),
    [
        ("dogs/a b.jpg", "dogs/a b.jpg"),
        ("dogs/a b.jpg", "dogs/a%20b.jpg"),
        ("images/a.jpg", "a.jpg"),
        ("images/a.jpg", "images/a.jpg"),
        ("a b.jpg", "/data/local-files/?d=a%20b.jpg"),
        ("dogs/a.jpg", "/data/local-files/?d=root/photos/dogs/a.jpg"),
        ("images/a.jpg", "/data/local-files/?d=root/a.jpg"),
        ("abcd1234-a.jpg", "/data/upload/1/abcd1234-a.jpg"),
        ("a.jpg", "/data/upload/1/abcd1234-a.jpg"),
        ("images/a.jpg", "/data/upload/abcd1234-a.jpg"),
        ("images/a b.jpg", "/data/upload/17/abcd1234-a%20b.jpg"),
        ("a.jpg", "/data/upload/1/a.jpg"),
    ],
)
def test_photos_are_found_by_all_kinds_of_references(write: Write, file: str, reference: str) -> None:
    assert tags_of(write({file: "x"}), [task(reference, {"choices": ["dog"]})]) == {file: {"dog"}}


def test_the_full_name_of_an_upload_comes_first(write: Write) -> None:
    place = write({"a.jpg": "x", "images/abcd1234-a.jpg": "y"})
    tasks = [task("/data/upload/1/abcd1234-a.jpg", {"choices": ["dog"]})]
    assert tags_of(place, tasks) == {"images/abcd1234-a.jpg": {"dog"}}


def test_files_elsewhere_move_the_folder_where_names_begin(write: Write) -> None:
    place = write({"dogs/a b.jpg": "a", "cats/c.jpg": "c", "export/export.json": "", "export/d.jpg": "d"})
    references = [f"file://{place}/dogs/a%20b.jpg", f"file://{place}/cats/c.jpg"]
    tasks = [task(reference, {"choices": ["pet"]}) for reference in references]
    (place / "export" / "export.json").write_text(json.dumps(tasks))
    tags = read_tags(place / "export" / "export.json")
    assert tags.folder == place
    assert [(photo.name, photo.path) for photo in tags.photos] == [
        ("cats/c.jpg", place / "cats/c.jpg"),
        ("dogs/a b.jpg", place / "dogs/a b.jpg"),
    ]


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([], "there is no photo in"),
        ([5], "task 1 of .* is the value 5"),
        ([{}], "task 1 of .* has no image"),
        ([{"image_id": 1, "category_id": 2, "score": 0.5}], "task 1 of .* has no image"),
        ([{"image": "a.jpg", "label": 5}], "task 1 .* has the value 5 as a label"),
        ([{"image": "a.jpg", "label": [[[["dog"]]]]}], "task 1 .* has a list as a label"),
        ([{"image": "a.jpg", "label": [{"rectanglelabels": "dog"}]}], "rectanglelabels of task 1 .* is a text"),
        ([{"data": "a.jpg", "annotations": [{"result": []}]}], "task 1 .* is a text"),
        ([{"data": {"image": "a.jpg"}}], "task 1 .* has no annotations"),
        ([{"data": {"image": "a.jpg"}, "annotations": [3]}], "an annotation of task 1 .* is the value 3"),
        ([{"data": {"image": "a.jpg"}, "annotations": [{}]}], "an annotation of task 1 .* has no result"),
        ([{"data": {"image": "a.jpg"}, "annotations": [{"result": [4]}]}], "a result of task 1 .* is the value 4"),
        ([task("a.jpg", "dog")], "value of a result of task 1 .* is a text"),
        ([task("a.jpg", {"choices": [3]})], "task 1 .* has the value 3 as a label"),
        ([task(5)], "image of task 1 .* is the value 5"),
        ([{"data": {"img": "a.jpg"}, "annotations": [{"result": []}]}], "task 1 .* has no image"),
        ([task("https://example.org/a.jpg")], r"photo at 'https://example.org/a.jpg'.\n.*\n.*download the photos"),
        ([task("s3://bucket/a.jpg")], "download the photos"),
        ([task("data:image/png;base64,AAAA")], "download the photos"),
        ([task("/etc/passwd")], "does not stay in its folder"),
        ([task("../a.jpg")], "does not stay in its folder"),
        ([task("/data/local-files/?d=..%2Fa.jpg")], "does not stay in its folder"),
        ([task("file:///nowhere/at/all.jpg")], "task 1: there is no photo '/nowhere/at/all.jpg'"),
        ([task("b.jpg")], r"task 1: there is no photo '.*b\.jpg'"),
        ([task("a.jpg"), task("./a.jpg")], "twice: in task 1 and in task 2"),
        ([task("a.jpg")], "no photo in .* has a tag; it has 1 without"),
    ],
)
def test_an_export_with_a_fault_is_refused_at_its_place(write: Write, tasks: Any, message: str) -> None:
    with pytest.raises(TagsError, match=message):
        tags_of(write({"a.jpg": "a"}), tasks)


BOX = {"x": 10, "y": 20, "width": 30, "height": 40, "rectanglelabels": ["dog"]}
POLYGON = {"points": [[10, 20], [30, 80], [20, 10]], "polygonlabels": ["cat"]}
ELLIPSE = {"x": 1, "y": 2, "radiusX": 3, "ellipselabels": ["dog"]}
SIZE = {"original_height": 100, "original_width": 200}


def truth_of(place: Path, tasks: Any) -> Dataset:
    (place / "export.json").write_text(json.dumps(tasks))
    return read_truth(place / "export.json")


def boxed(image: str, *values: Any) -> dict[str, Any]:
    found = task(image, *values)
    for item in found["annotations"][0]["result"]:
        item |= SIZE
    return found


def test_boxes_are_percent_of_the_photo(write: Write) -> None:
    tasks = [
        boxed("/data/upload/1/abcd1234-a.jpg", BOX, POLYGON, {"choices": ["outdoors"]}),
        {"image": "sub/b.jpg", "label": [BOX | SIZE | {"rotation": 90}], "choice": "outdoors"},
        {"data": {"image": "nobody.jpg"}, "annotations": []},
    ]
    truth = truth_of(write({}), tasks)
    first, second = truth.images
    assert truth.classes == ("cat", "dog")
    assert (first.image_id, first.path.name, first.height, first.width) == ("a.jpg", "a.jpg", 100, 200)
    assert first.truth.labels.tolist() == ["dog", "cat"]
    np.testing.assert_allclose(first.truth.boxes, [[20, 20, 80, 60], [20, 10, 60, 80]], rtol=1e-6)
    np.testing.assert_allclose(second.truth.boxes, [[0, 20, 20, 80]], atol=1e-5)  # turned about its corner, and cut
    assert second.image_id == "sub/b.jpg"


def test_labels_of_the_project_are_classes_even_if_none_was_drawn(write: Write) -> None:
    labels = '<RectangleLabels><Label value="pen"/><Label value="dog"/></RectangleLabels>'
    place = write({"config.xml": f"<View>{labels}</View>"})
    assert truth_of(place, [boxed("a.jpg", BOX)]).classes == ("pen", "dog")


def test_the_size_of_a_photo_without_boxes_is_that_of_its_file(write: Write) -> None:
    place = write({})
    with pytest.raises(DatasetError, match=r"how large the photo .*a\.png is"):
        truth_of(place, [task("a.png")])
    Image.new("RGB", (30, 20)).save(place / "a.png")
    (image,) = truth_of(place, [task("a.png")]).images
    assert (image.height, image.width, len(image.truth)) == (20, 30, 0)


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([boxed("a.jpg", ELLIPSE)], "task 1 .* has a region that is no box"),
        ([boxed("a.jpg", BOX | {"x": "left"})], "task 1 .* not made of numbers"),
        ([boxed("a.jpg", POLYGON | {"points": [3]})], "task 1 .* not made of numbers"),
        ([boxed("a.jpg", BOX) | {"data": {}}], "task 1 .* has no image"),
        ([task("a.jpg", BOX | SIZE | {"original_height": 0})], "task 1 .* has the height 0"),
        ([{"image": "a.jpg", "label": [5]}], "has the value 5 as a label"),
    ],
)
def test_boxes_with_a_fault_are_refused_at_their_place(write: Write, tasks: Any, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        truth_of(write({"a.jpg": "a"}), tasks)


def test_two_truths_of_one_photo_are_refused(write: Write) -> None:
    both = boxed("a.jpg", BOX)
    both["annotations"] += boxed("a.jpg", BOX)["annotations"]
    with pytest.raises(DatasetError, match=r"task 1 .* has 2 annotations"):
        truth_of(write({}), [both])
    both["annotations"][0]["was_cancelled"] = True
    assert len(truth_of(write({}), [both]).images[0].truth) == 1


def test_predictions_count_where_nothing_else_is_said(write: Write) -> None:
    place = write({"a.jpg": "", "b.jpg": "", "c.jpg": ""})
    result = [{"value": BOX, "type": "rectanglelabels", **SIZE}]
    given: list[dict[str, Any]] = [
        {"data": {"image": "a.jpg"}, "predictions": [{"result": result}]},
        {"data": {"image": "b.jpg"}, "predictions": []},
    ]
    assert tags_of(place, given) == {"a.jpg": {"dog"}, "b.jpg": set()}
    exported = [*(one | {"annotations": [{"result": []}]} for one in given), boxed("c.jpg", POLYGON)]
    assert tags_of(place, exported) == {"a.jpg": set(), "b.jpg": set(), "c.jpg": {"cat"}}
