"""Tags from COCO files, which need neither boxes nor sizes for this."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tag2box.data.tags import read_tags
from tag2box.errors import TagsError

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
    from tag2box.data import read_coco

    path = real_data / "voc07" / "test.json"
    boxes = {str(image.path): set(image.truth.labels.tolist()) for image in read_coco(path).images}
    assert {str(photo.path): set(photo.tags) for photo in read_tags(path).photos} == boxes
