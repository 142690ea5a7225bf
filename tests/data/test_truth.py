"""Readers of the formats that people have, on small files made here and on the real ones where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tag2box.data import load_split, read_coco, read_dataset, read_truth
from tag2box.errors import DatasetError

COCO: dict[str, Any] = {
    "images": [
        {"id": 7, "file_name": "a.jpg", "height": 40, "width": 60},
        {"id": 8, "file_name": "b.jpg", "height": 40, "width": 60},
    ],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 3, "bbox": [5, 6, 10, 20], "iscrowd": 0},
        {"id": 2, "image_id": 7, "category_id": 9, "bbox": [50, 30, 20, 20], "iscrowd": 1},
        {"id": 3, "image_id": 7, "category_id": 9, "bbox": [1, 1, 0, 5], "iscrowd": 0},
        {"id": 4, "image_id": 7, "category_id": 3, "bbox": [0, 0, 4, 4], "difficult": 1},
    ],
    "categories": [{"id": 3, "name": "cat"}, {"id": 9, "name": "dog"}],
}

XML = """<annotation><size><width>60</width><height>40</height><depth>3</depth></size>
<object><name>{first}</name><difficult>0</difficult><bndbox><xmin>6</xmin><ymin>7</ymin><xmax>15</xmax><ymax>26</ymax></bndbox></object>
<object><name>{second}</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>60</xmax><ymax>40</ymax></bndbox></object>
</annotation>"""


def coco_file(folder: Path, content: Any = COCO, name: str = "boxes.json") -> Path:
    (folder / "a.jpg").touch()
    path = folder / name
    path.write_text(json.dumps(content))
    return path


def test_coco_boxes_become_ours(tmp_path: Path) -> None:
    dataset = read_coco(coco_file(tmp_path))
    assert dataset.classes == ("cat", "dog")
    first, second = dataset.images
    assert (first.image_id, first.height, first.width, first.path) == ("7", 40, 60, tmp_path / "a.jpg")
    assert first.truth.boxes.tolist() == [[5, 6, 15, 26], [50, 30, 60, 40], [0, 0, 4, 4]]  # clipped; no empty box
    assert first.truth.labels.tolist() == ["cat", "dog", "cat"]
    assert first.truth.crowd.tolist() == [False, True, False]
    assert first.truth.ignore.tolist() == [False, True, True]
    assert first.tags == {"cat"}
    assert len(second.truth) == 0


@pytest.mark.parametrize("layout", ["val2017", "images/val2017", "annotations/images", "images"])
def test_coco_images_are_found_where_coco_puts_them(tmp_path: Path, layout: str) -> None:
    for folder in ("annotations", layout):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / layout / "a.jpg").touch()
    path = tmp_path / "annotations" / "instances_val2017.json"
    path.write_text(json.dumps(COCO))
    assert read_coco(path).images[0].path == tmp_path / layout / "a.jpg"
    assert read_coco(path, tmp_path / "elsewhere").images[0].path == tmp_path / "elsewhere" / "a.jpg"


def test_truth_needs_no_pictures_and_who_looks_at_them_is_told(tmp_path: Path) -> None:
    path = tmp_path / "boxes.json"
    path.write_text(json.dumps(COCO))
    assert [image.path for image in read_truth(path).images] == [tmp_path / "a.jpg", tmp_path / "b.jpg"]
    with pytest.raises(DatasetError, match=r"the images of .*boxes\.json were not found: there is no .*a\.jpg"):
        read_dataset(path)
    (tmp_path / "a.jpg").touch()
    assert len(read_dataset(path)) == 2


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in COCO.items() if name != key}


@pytest.mark.parametrize(
    "content",
    [
        [],
        without("images"),
        without("annotations"),
        without("categories"),
        {**COCO, "annotations": [{"id": 1, "image_id": 99, "category_id": 3, "bbox": [0, 0, 1, 1]}]},
        {**COCO, "annotations": [{"id": 1, "image_id": 7, "category_id": 99, "bbox": [0, 0, 1, 1]}]},
        {**COCO, "annotations": [{"id": 1, "image_id": 7, "category_id": 3, "bbox": [0, 0, 1]}]},
        {**COCO, "annotations": [{"id": 1, "image_id": 7, "category_id": 3, "bbox": [0, 0, 1, None]}]},
        {**COCO, "images": [{"id": 7, "file_name": "a.jpg"}]},
    ],
)
def test_a_coco_file_that_is_not_one_is_refused_by_name(tmp_path: Path, content: Any) -> None:
    with pytest.raises(DatasetError, match=r"boxes\.json") as refused:
        read_coco(coco_file(tmp_path, content))
    assert not isinstance(refused.value.__cause__, DatasetError)  # said once, not wrapped in itself


def test_missing_and_broken_coco_files_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"nowhere\.json cannot be read"):
        read_coco(tmp_path / "nowhere.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(DatasetError, match=r"broken\.json is not JSON"):
        read_coco(tmp_path / "broken.json")


def voc_devkit(folder: Path) -> Path:
    for name in ("ImageSets/Main", "Annotations", "JPEGImages"):
        (folder / "VOC2007" / name).mkdir(parents=True)
    (folder / "VOC2007" / "ImageSets" / "Main" / "test.txt").write_text("000001\n000002\n")
    for name in ("000001", "000002"):
        (folder / "VOC2007" / "Annotations" / f"{name}.xml").write_text(XML.format(first="dog", second="person"))
    return folder


def test_voc_boxes_lose_their_first_pixel_and_keep_their_size(tmp_path: Path) -> None:
    dataset = read_truth(voc_devkit(tmp_path) / "VOC2007/ImageSets/Main/test.txt")
    image = dataset.images[0]
    assert len(dataset.classes) == 20
    assert (image.image_id, image.height, image.width) == ("000001", 40, 60)
    assert image.path == tmp_path / "VOC2007" / "JPEGImages" / "000001.jpg"
    assert image.truth.boxes.tolist() == [[5, 6, 15, 26], [0, 0, 60, 40]]
    assert image.truth.ignore.tolist() == [False, True]
    assert image.tags == {"dog"}


def test_ilsvrc_classes_get_their_names_and_boxes_stay_inside(tmp_path: Path) -> None:
    for name in ("ImageSets/DET", "Annotations/DET/val"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "ImageSets/DET/val.txt").write_text("ILSVRC2012_val_00000001 1\n")
    xml = XML.format(first="n02672831", second="n02691156")
    (tmp_path / "Annotations/DET/val/ILSVRC2012_val_00000001.xml").write_text(xml)
    dataset = read_truth(tmp_path / "ImageSets/DET/val.txt")
    image = dataset.images[0]
    assert len(dataset.classes) == 200
    assert image.truth.labels.tolist() == ["accordion", "airplane"]
    assert image.truth.boxes.tolist() == [[6, 7, 16, 27], [1, 1, 60, 40]]
    assert image.path == tmp_path / "Data/DET/val/ILSVRC2012_val_00000001.JPEG"


@pytest.mark.parametrize("kind", ["Main", "DET"])
def test_an_image_set_that_is_not_there_is_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(DatasetError, match=r"nothing\.txt cannot be read"):
        read_truth(tmp_path / "ImageSets" / kind / "nothing.txt")


@pytest.mark.parametrize("xml", ["", "<annotation>", "<annotation></annotation>", XML.replace("<xmin>", "<x>")])
def test_a_broken_annotation_is_refused_by_name(tmp_path: Path, xml: str) -> None:
    devkit = voc_devkit(tmp_path)
    (devkit / "VOC2007" / "Annotations" / "000002.xml").write_text(xml)
    with pytest.raises(DatasetError, match=r"000002\.xml (is not XML|has)"):
        read_truth(devkit / "VOC2007/ImageSets/Main/test.txt")


def test_unlabelled_classes_vanish_but_their_images_stay(tmp_path: Path) -> None:
    dataset = read_coco(coco_file(tmp_path))
    dogs = dataset.only(["dog"])
    assert dogs.classes == ("dog",)
    assert len(dogs) == 2
    assert dogs.images[0].truth.labels.tolist() == ["dog"]
    assert [image.image_id for image in dataset.without(["dog"]).images] == ["8"]
    assert [image.image_id for image in dataset.showing(["cat"]).images] == ["7"]
    assert dataset.tags == {"7": {"cat"}, "8": frozenset()}


def test_joined_datasets_label_what_both_label(tmp_path: Path) -> None:
    dataset = read_coco(coco_file(tmp_path))
    both = dataset.joined(dataset.only(["cat"]))
    assert both.classes == ("cat",)
    assert len(both) == 4
    assert set(np.concatenate([image.truth.labels for image in both.images]).tolist()) == {"cat"}


def test_the_real_files_have_the_images_and_boxes_that_they_should(real_data: Path) -> None:
    voc = read_coco(real_data / "voc07" / "test.json")
    assert (len(voc), sum(len(image.truth) for image in voc.images)) == (2476, 7467)
    assert set(voc.classes) == {*load_split("voc1").base, *load_split("voc1").novel}
    assert any(image.truth.ignore.any() for image in voc.images)
    pool = read_coco(real_data / "coco60" / "novel_pool.json")
    split = load_split("coco60")
    assert set(pool.classes) == {*split.base, *split.novel}
    assert all(image.tags & set(split.novel) for image in pool.images)
    assert all(image.path.is_file() for image in pool.images[:20])


def test_one_place_names_a_dataset_of_any_layout(tmp_path: Path) -> None:
    devkit = voc_devkit(tmp_path / "kit")
    named, whole = read_truth(devkit / "VOC2007/ImageSets/Main/test.txt"), read_truth(devkit / "VOC2007")
    assert [image.image_id for image in named.images] == [image.image_id for image in whole.images]
    for name in ("boxes.csv", "VOC2007/ImageSets/Other/test.txt", "test.txt", "kit"):
        with pytest.raises(DatasetError, match="names no dataset"):
            read_truth(tmp_path / name)
    with pytest.raises(DatasetError, match="cannot be read"):
        read_truth(tmp_path / "missing.json")


def test_classes_of_voc_are_its_twenty_unless_there_are_others(tmp_path: Path) -> None:
    folder = voc_devkit(tmp_path) / "VOC2007"
    assert len(read_truth(folder).classes) == 20
    (folder / "Annotations" / "000002.xml").write_text(XML.format(first="mug", second="dog"))
    assert read_truth(folder).classes == ("dog", "mug", "person")
    (folder / "labelmap.txt").write_text("# label:color_rgb:parts:actions\nbackground:::\npen: red:::\nmug:::\n")
    assert read_truth(folder).classes == ("pen: red", "mug", "dog", "person")


def test_names_of_the_truth_follow_the_law_of_tags(tmp_path: Path) -> None:
    content = {**COCO, "categories": [{"id": 3, "name": " cafe\u0301 "}, {"id": 9, "name": "dog"}]}
    assert read_truth(coco_file(tmp_path, content)).classes == ("café", "dog")
