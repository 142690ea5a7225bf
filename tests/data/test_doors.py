"""What all sources of tags have in common."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tag2box.data import read_tags

Write = Callable[[Mapping[str, str | bytes]], Path]
TASK = {"data": {"image": "a.jpg"}, "annotations": [{"result": [{"value": {"choices": ["dog"]}}]}]}
CVAT = '<annotations><image name="a.jpg"><tag label="dog"/></image></annotations>'
SOURCES: dict[str, tuple[str, dict[str, str]]] = {
    "folders": ("", {"dog/a.jpg": ""}),
    "metadata.csv": ("", {"a.jpg": "", "metadata.csv": "file_name,tags\na.jpg,dog\n"}),
    "Label Studio": ("tasks.json", {"a.jpg": "", "tasks.json": json.dumps([TASK])}),
    "CVAT": ("", {"a.jpg": "", "annotations.xml": CVAT}),
    "VOC": ("", {"a.jpg": "", "a.xml": "<annotation><object><name>dog</name></object></annotation>"}),
    "YOLO": ("", {"images/a.jpg": "", "labels/a.txt": "0 0 0 1 1", "data.yaml": "train: images\nnames: [dog]\n"}),
}
"""What the tags come from → the place, and its files."""


@pytest.mark.parametrize("source", SOURCES)
def test_names_do_not_depend_on_where_one_stands(write: Write, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    place, files = SOURCES[source]
    folder = write(files)
    absolute = read_tags(folder / place)
    for stand, way in [(folder, "."), (folder.parent, folder.name), (folder, f"../{folder.name}")]:
        monkeypatch.chdir(stand)
        tags = read_tags(Path(way) / place)
        assert [(photo.name, photo.tags) for photo in tags.photos] == [
            (photo.name, photo.tags) for photo in absolute.photos
        ]
        assert all(photo.path.samefile(tags.folder / photo.name) for photo in tags.photos)
        assert (tags.classes, tags.source) == (("dog",), source)


def test_reading_twice_gives_the_same(write: Write) -> None:
    place = write({f"{tag}/{number}.jpg": "x" for tag in ("b", "a", "B") for number in (10, 9, 1)})
    assert read_tags(place) == read_tags(place)
    assert [photo.name for photo in read_tags(place).photos] == ["B/1.jpg", "B/10.jpg", "B/9.jpg"]
    assert read_tags(place).photos[0].tags == {"B", "a", "b"}
