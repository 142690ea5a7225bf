"""Damaged files: whatever happens to a source of tags, the answer is tags or a message, never a crash."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from PIL import Image

from tag2box.data import TagSet, read_tags, read_truth
from tag2box.errors import DatasetError, InputError

Write = Callable[[Mapping[str, str | bytes]], Path]
TRIALS = 150
PHOTOS = {name: name for name in ("a.jpg", "images/b.jpg", "JPEGImages/a.jpg")}
COCO: dict[str, list[dict[str, object]]] = {
    "images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "images/b.jpg"}],
    "annotations": [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}, {"image_id": 2, "category_id": 2}],
    "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
}
TASKS = [
    {
        "data": {"image": "/data/upload/1/abcd1234-a.jpg"},
        "annotations": [{"result": [{"value": {"choices": ["cat"]}}]}],
    },
    {"image": "/data/local-files/?d=x/b.jpg", "label": [{"rectanglelabels": ["dog"]}], "choice": "pet"},
]
VOC = "<annotation><object><name>dog</name></object></annotation>"
YAML = 'path: .\ntrain: images\nval:\n  - images\nnames:\n  0: "cat"\n  1: dog  # woof\n'

SOURCES: dict[str, tuple[str, dict[str, str]]] = {
    "csv": ("metadata.csv", {"metadata.csv": 'file_name,tags\na.jpg,dog;cat\n"images/b.jpg",\n'}),
    "jsonl": ("metadata.jsonl", {"metadata.jsonl": '{"file_name": "a.jpg", "tags": ["dog"]}\n'}),
    "coco": ("boxes.json", {"boxes.json": json.dumps(COCO)}),
    "label studio": ("export.json", {"export.json": json.dumps(TASKS)}),
    "cvat": (
        "boxes.xml",
        {"boxes.xml": '<annotations><image name="a.jpg"><box label="dog"/></image><image name="b.jpg"/></annotations>'},
    ),
    "voc": ("", {"Annotations/a.xml": VOC}),
    "yaml": ("data.yaml", {"data.yaml": YAML, "labels/b.txt": "0 0.5 0.5 1 1"}),
    "labels": ("data.yaml", {"labels/b.txt": "0 0.5 0.5 1 1\n1 0 0 1 1\n", "data.yaml": YAML}),
    "classes": ("", {"classes.txt": "cat\ndog\n", "labels/b.txt": "1 0 0 1 1\n"}),
}
"""Name → what is given to the reader, and the files; the first of them is damaged."""

TOKENS = [b"\0", b"\xff", b'"', b"'", b"\\", b"[", b"]", b"{", b"}", b"<", b"&", b"\n", b"\r", b";", b",", b":", b"- "]
TOKENS += [b"../", b"/", b"null", b"-1", b"1e999", b"\\ud800", b"\xed\xa0\x80", "🐕".encode(), b"%00", b"http://["]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The content after one to three accidents."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(content) + 1)
        until = at + rng.choice([1, 1, 2, 5, 20])
        content = rng.choice([
            content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :],
            content[:at] + content[until:],
            content[:at] + rng.choice(TOKENS) + content[at:],
            content[:at] + content[at:until] * 3 + content[until:],
            content[: max(at, 1)],
        ])  # fmt: skip
    return content


def require_sound(tags: TagSet) -> None:
    names = [photo.name for photo in tags.photos]
    assert names == sorted(set(names))
    assert all(photo.path.is_file() and photo.path == tags.folder / photo.name for photo in tags.photos)
    assert all(tag == tag.strip() and 0 < len(tag) <= 200 for tag in tags.classes)
    assert tags.classes


@pytest.mark.parametrize("source", SOURCES)
def test_a_damaged_source_gives_tags_or_a_message(write: Write, source: str) -> None:
    place, files = SOURCES[source]
    photos = {"JPEGImages/a.jpg": "a"} if source == "voc" else PHOTOS
    folder = write({**photos, **files})
    require_sound(read_tags(folder / place))
    rng = random.Random(source)
    name, content = next(iter(files.items()))
    outcomes = set()
    for _ in range(TRIALS):
        write({name: damaged(content.encode(), rng)})
        try:
            require_sound(read_tags(folder / place))
            outcomes.add("tags")
        except InputError as error:
            outcomes.add("message" if all(error.args) else "half a message")
    assert outcomes == {"tags", "message"}


def content_of(source: str) -> tuple[str, dict[str, str]]:
    """A source with boxes and sizes; those that have none are left as they are."""
    place, files = SOURCES[source]
    boxed = {
        "coco": json.dumps(
            {
                **COCO,
                "images": [image | {"height": 9, "width": 9} for image in COCO["images"]],
                "annotations": [one | {"bbox": [1, 2, 3, 4]} for one in COCO["annotations"]],
            }
        ),
        "label studio": json.dumps([{"image": "a.jpg", "label": [LABEL]}]),
        "cvat": CVAT,
        "voc": VOC.replace("<object>", SIZE + "<object>").replace("</object>", BNDBOX + "</object>"),
    }
    return place, {name: boxed.get(source, content) for name, content in files.items()}


LABEL = {"x": 1, "y": 2, "width": 3, "height": 4, "original_height": 9, "original_width": 9, "rectanglelabels": ["dog"]}
CVAT = """<annotations><meta/><image name="a.jpg" width="9" height="9"><box label="dog" xtl="1" ytl="2" xbr="3" ybr="4"
rotation="30"/><polygon label="cat" points="1,2;3,4;5,2"/></image></annotations>"""
SIZE = "<size><height>9</height><width>9</width></size>"
BNDBOX = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox>"


@pytest.mark.parametrize("source", ["coco", "label studio", "cvat", "voc", "yaml", "labels", "classes"])
def test_a_damaged_source_gives_truth_or_a_message(write: Write, source: str) -> None:
    place, files = content_of(source)
    picture = io.BytesIO()
    Image.new("RGB", (9, 9)).save(picture, format="PNG")
    photos = {"JPEGImages/a.jpg": picture.getvalue()} if source == "voc" else dict.fromkeys(PHOTOS, picture.getvalue())
    folder = write({**photos, **files})
    assert sum(len(image.truth) for image in read_truth(folder / place).images)
    rng = random.Random(source)
    name, content = next(iter(files.items()))
    outcomes = set()
    for _ in range(TRIALS):
        write({name: damaged(content.encode(), rng)})
        try:
            read_truth(folder / place)
            outcomes.add("truth")
        except DatasetError as error:
            outcomes.add("message" if all(error.args) else "half a message")
    assert outcomes == {"truth", "message"}
