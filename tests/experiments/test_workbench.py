"""Where the annotations of a dataset are, and whether they are still the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from tag2box.errors import DatasetError
from tag2box.experiments.bench.workbench import PATHS_NAME, annotation_file, annotations_hash


def test_the_data_folder_may_say_where_its_datasets_are(tmp_path: Path) -> None:
    assert annotation_file(tmp_path, "voc07") == tmp_path / "voc07/test.json"
    (tmp_path / PATHS_NAME).write_text('voc07 = "VOCdevkit/VOC2007/ImageSets/Main/test.txt"\n')
    assert annotation_file(tmp_path, "voc07") == tmp_path / "VOCdevkit/VOC2007/ImageSets/Main/test.txt"
    assert annotation_file(tmp_path, "coco60 novel") == tmp_path / "coco60/novel_pool.json"
    with pytest.raises(DatasetError, match="no dataset 'voc08'"):
        annotation_file(tmp_path, "voc08")
    (tmp_path / PATHS_NAME).write_text("voc07 = ")
    with pytest.raises(DatasetError, match=PATHS_NAME):
        annotation_file(tmp_path, "voc07")


def test_the_hash_of_annotations_is_that_of_their_meaning(tmp_path: Path) -> None:
    path = tmp_path / "voc07/test.json"
    path.parent.mkdir()
    Image.new("RGB", (40, 30)).save(path.parent / "1.jpg")

    def hashed(**changes: object) -> str:
        thing = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "iscrowd": 0, "difficult": 0}
        image = {"id": 1, "file_name": "1.jpg", "height": 30, "width": 40}
        kinds = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
        content = {"images": [image], "annotations": [thing | changes], "categories": kinds}
        path.write_text(json.dumps(content, indent=len(changes)))
        return annotations_hash(tmp_path, "voc07")

    changes: list[dict[str, object]] = [{"bbox": [1, 2, 3, 5]}, {"category_id": 2}, {"iscrowd": 1}, {"difficult": 1}]
    hashes = [hashed(), *(hashed(**change) for change in changes)]
    assert len(set(hashes)) == len(hashes)
    assert hashed(id=7, caption="of no meaning here") == hashes[0]


def test_an_image_set_is_read_whenever_its_hash_is_asked_for(tmp_path: Path) -> None:
    """The list of names stays as it is when an annotation of it changes."""
    folder = tmp_path / "VOCdevkit" / "VOC2007"
    for name in ("ImageSets/Main", "Annotations", "JPEGImages"):
        (folder / name).mkdir(parents=True)
    Image.new("RGB", (40, 30)).save(folder / "JPEGImages" / "1.jpg")
    (folder / "ImageSets/Main/test.txt").write_text("1\n")
    (tmp_path / PATHS_NAME).write_text('voc07 = "VOCdevkit/VOC2007/ImageSets/Main/test.txt"\n')
    hashes = []
    for edge in (20, 21):
        box = f"<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>{edge}</xmax><ymax>20</ymax></bndbox>"
        size = "<size><width>40</width><height>30</height></size>"
        text = f"<annotation>{size}<object><name>cat</name>{box}</object></annotation>"
        (folder / "Annotations/1.xml").write_text(text)
        hashes.append(annotations_hash(tmp_path, "voc07"))
    assert hashes[0] != hashes[1]
