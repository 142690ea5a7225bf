"""An export is whole or not there, takes nothing that is not its own, and leaves the photos alone."""

from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tag2box.data import FORMATS, FoundBox, LabelledPhotos, formats, read_truth, write_formats
from tag2box.errors import ExportError
from tag2box.files import MARK_NAME

WRITTEN = [each.name for each in FORMATS if each.write]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_each_format_has_its_folder_and_is_written_the_same_again(labelled: LabelledPhotos, tmp_path: Path) -> None:
    written = write_formats(labelled, [*WRITTEN, "coco"], tmp_path / "out")
    assert written == (tuple(tmp_path / "out" / name for name in WRITTEN), 3, 0, {"train": 1, "valid": 2, "test": 0})
    first = files(tmp_path / "out")
    assert write_formats(labelled, list(WRITTEN), tmp_path / "out") == written
    assert files(tmp_path / "out") == first
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(WRITTEN)


def test_the_files_of_each_format(labelled: LabelledPhotos, tmp_path: Path) -> None:
    write_formats(labelled, list(WRITTEN), tmp_path)
    tree = {"images/cup/a b.png", "images/pen/a b.png", "images/_none/c.png", MARK_NAME}
    flat = ["cup__a_b", "pen__a_b", "_none__c"]
    assert set(files(tmp_path / "coco")) == {"annotations.json"} | tree
    assert set(files(tmp_path / "cvat")) == {"annotations.xml"} | tree
    assert set(files(tmp_path / "labelstudio")) == {"tasks.json", "config.xml", "README.txt"} | tree
    assert set(files(tmp_path / "yolo")) == (
        {"data.yaml", MARK_NAME} | {f"images/train/{n}.png" for n in flat} | {f"labels/train/{n}.txt" for n in flat}
    )
    data = {name.replace("images/", "data/") for name in tree}
    assert set(files(tmp_path / "fiftyone")) == {"labels.json"} | data
    assert set(files(tmp_path / "voc")) == (
        {"ImageSets/Main/trainval.txt", "labelmap.txt", MARK_NAME}
        | {f"JPEGImages/{n}.png" for n in flat}
        | {f"Annotations/{n}.xml" for n in flat}
    )


def test_coco_keeps_score_and_doubt_and_what_other_tools_insist_on(labelled: LabelledPhotos, tmp_path: Path) -> None:
    write_formats(labelled, ["coco"], tmp_path)
    content = json.loads((tmp_path / "coco" / "annotations.json").read_text())
    assert content["licenses"]
    assert [(box["score"], box["doubt"]) for box in content["annotations"]] == [(0.9, 0.1), (0.5, 0.5), (0.5, 0.5)]
    assert not any("segmentation" in box for box in content["annotations"])
    assert content["info"]["photos"] == "."
    assert len(read_truth(tmp_path / "coco" / "annotations.json")) == 3


def test_yolo_is_laid_out_as_ultralytics_looks_for_it(labelled: LabelledPhotos, tmp_path: Path) -> None:
    write_formats(labelled, ["yolo"], tmp_path)
    lines = (tmp_path / "yolo" / "data.yaml").read_text().splitlines()
    assert [line.split("  #")[0] for line in lines] == [
        'path: ""',
        "train: images/train",
        "val: images/train",
        "names:",
        '  0: "cup"',
        '  1: "pen"',
    ]
    labels = tmp_path / "yolo" / "labels" / "train"
    assert (labels / "_none__c.txt").read_text() == ""
    assert (labels / "cup__a_b.txt").read_text() == (
        "0 0.320000 0.525000 0.590000 0.925000\n1 0.600000 0.625000 0.800000 0.750000\n"
    )


def test_a_run_without_classes_has_an_empty_list_of_names(labelled: LabelledPhotos, tmp_path: Path) -> None:
    write_formats(replace(labelled, classes=(), photos=labelled.photos[2:]), ["yolo"], tmp_path)
    assert (tmp_path / "yolo" / "data.yaml").read_text().endswith("\nnames: {}\n")


def test_voc_counts_pixels_from_one(labelled: LabelledPhotos, tmp_path: Path) -> None:
    write_formats(labelled, ["voc"], tmp_path)
    text = (tmp_path / "voc" / "Annotations" / "cup__a_b.xml").read_text()
    assert [part.split("<")[0] for part in text.split("<xmin>")[1:]] == ["2", "11"]
    assert [part.split("<")[0] for part in text.split("<ymax>")[1:]] == ["40", "40"]
    assert (tmp_path / "voc" / "ImageSets" / "Main" / "trainval.txt").read_text() == "cup__a_b\npen__a_b\n_none__c\n"


def test_labelstudio_gets_quoted_urls_and_the_score_of_the_most_doubtful_box(
    labelled: LabelledPhotos, tmp_path: Path
) -> None:
    (labelled.folder / "_none" / "c.png").rename(labelled.folder / "50%41 #1?é.png")
    none = replace(labelled.photos[2], name="50%41 #1?é.png")
    write_formats(replace(labelled, photos=(labelled.photos[0], none)), ["labelstudio"], tmp_path)
    first, last = json.loads((tmp_path / "labelstudio" / "tasks.json").read_text())
    assert [prediction["score"] for prediction in first["predictions"]] == [0.5]
    assert last == {"data": {"image": "/data/local-files/?d=images/50%2541%20%231%3F%C3%A9.png"}, "predictions": []}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_photo_whose_boxes_are_left_out_does_not_become_one_of_nothing(
    labelled: LabelledPhotos, tmp_path: Path, name: str
) -> None:
    """A detector that trains on a photo of a pen without a box learns that pens are background."""
    written = write_formats(labelled, [name], tmp_path, max_doubt=0.1)
    assert (written.photos, written.left_out) == (2, 1)
    assert not [path for path in (tmp_path / name).rglob("*") if "pen" in path.relative_to(tmp_path).as_posix()]
    assert [path for path in (tmp_path / name).rglob("*") if "_none" in path.relative_to(tmp_path).as_posix()]


def test_a_photo_whose_only_tag_was_not_learned_is_left_out_and_one_without_tags_stays(
    labelled: LabelledPhotos, tmp_path: Path
) -> None:
    """A tag of one photo gets no box; what is in the photo is known all the same."""
    both, pen, none = labelled.photos
    lonely = replace(pen, boxes=(), tags=("fork",))
    for said, photos in [((), 2), (None, 2), (("fork",), 1)]:
        written = write_formats(replace(labelled, photos=(both, lonely, replace(none, tags=said))), ["coco"], tmp_path)
        assert (written.photos, written.left_out) == (photos, 3 - photos)


def test_an_export_of_nothing_is_refused(labelled: LabelledPhotos, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="none of the 2 photos has a box of so little doubt"):
        write_formats(replace(labelled, photos=labelled.photos[:2]), ["coco"], tmp_path / "out", max_doubt=0.01)
    assert not (tmp_path / "out").exists()


def test_boxes_end_at_the_edge_of_the_photo(labelled: LabelledPhotos, tmp_path: Path) -> None:
    over = FoundBox("cup", (-0.01, 1.0, 50.01, 40.01), 1.0, 0.0)
    outside = FoundBox("cup", (60.0, 1.0, 70.0, 2.0), 1.0, 0.0)
    photo = replace(labelled.photos[0], boxes=(over, outside))
    write_formats(replace(labelled, photos=(photo,)), ["coco"], tmp_path)
    content = json.loads((tmp_path / "coco" / "annotations.json").read_text())
    assert [box["bbox"] for box in content["annotations"]] == [[0.0, 1.0, 50.0, 39.0]]


def test_photos_are_linked_except_for_a_tool_that_writes_to_them(labelled: LabelledPhotos, tmp_path: Path) -> None:
    write_formats(labelled, ["coco", "yolo"], tmp_path)
    source = labelled.folder / "cup" / "a b.png"
    assert (tmp_path / "coco" / "images" / "cup" / "a b.png").samefile(source)
    copied = tmp_path / "yolo" / "images" / "train" / "cup__a_b.png"
    assert not copied.samefile(source)
    assert copied.read_bytes() == source.read_bytes()


def test_photos_are_copied_where_they_cannot_be_linked(
    labelled: LabelledPhotos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "another disk")

    monkeypatch.setattr(os, "link", refuse)
    write_formats(labelled, ["voc"], tmp_path)
    assert (tmp_path / "voc" / "JPEGImages" / "pen__a_b.png").is_file()


def test_a_symbolic_link_is_followed(labelled: LabelledPhotos, tmp_path: Path) -> None:
    photo = labelled.folder / "pen" / "a b.png"
    photo.rename(photo.with_name("real.png"))
    photo.symlink_to("real.png")
    write_formats(labelled, ["cvat"], tmp_path)
    exported = tmp_path / "cvat" / "images" / "pen" / "a b.png"
    assert exported.is_file()
    assert not exported.is_symlink()


@pytest.mark.parametrize("formats", [["coco", "pascal"], []])
def test_an_unknown_format_is_refused_with_the_known_ones(
    labelled: LabelledPhotos, tmp_path: Path, formats: list[str]
) -> None:
    with pytest.raises(ExportError, match="coco, cvat, fiftyone, huggingface, labelstudio, roboflow, voc, yolo"):
        write_formats(labelled, formats, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_missing_photo_is_named_before_anything_is_written(labelled: LabelledPhotos, tmp_path: Path) -> None:
    (labelled.folder / "_none" / "c.png").unlink()
    with pytest.raises(ExportError, match=r"_none/c\.png is not there"):
        write_formats(labelled, ["coco"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_folder_of_somebody_else_is_left_alone(labelled: LabelledPhotos, tmp_path: Path) -> None:
    (tmp_path / "coco").mkdir()
    write_formats(labelled, ["coco"], tmp_path)  # empty, so it may be taken
    (tmp_path / "yolo").mkdir()
    (tmp_path / "yolo" / "thesis.txt").write_text("years of work")
    with pytest.raises(ExportError, match="did not write it"):
        write_formats(labelled, ["voc", "yolo"], tmp_path)
    assert (tmp_path / "yolo" / "thesis.txt").read_text() == "years of work"
    assert not (tmp_path / "voc").exists()


def test_a_file_in_the_way_is_left_alone(labelled: LabelledPhotos, tmp_path: Path) -> None:
    (tmp_path / "coco").write_text("years of work")
    with pytest.raises(ExportError, match="did not write it"):
        write_formats(labelled, ["coco"], tmp_path)


def test_a_full_disk_leaves_the_old_export_and_no_rubbish(
    labelled: LabelledPhotos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_formats(labelled, ["voc"], tmp_path / "out")
    before = files(tmp_path / "out")

    def fill(_: LabelledPhotos, folder: Path) -> None:
        (folder / "half").write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(formats, "FORMATS", [replace(each, write=fill) for each in FORMATS if each.name == "voc"])
    with pytest.raises(ExportError, match=r"out/voc cannot be written.*No space left"):
        write_formats(labelled, ["voc"], tmp_path / "out")
    assert files(tmp_path / "out") == before


def test_an_interrupted_export_leaves_nothing(
    labelled: LabelledPhotos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copyfile", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_formats(labelled, ["yolo"], tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_the_old_export_comes_back_if_the_new_one_cannot_take_its_place(
    labelled: LabelledPhotos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_formats(labelled, ["voc"], tmp_path)
    before = files(tmp_path / "voc")
    rename = Path.rename

    def refuse_fresh(path: Path, target: Path) -> Path:
        if path.name == "fresh":
            raise PermissionError(errno.EACCES, "no")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse_fresh)
    with pytest.raises(ExportError, match="cannot be written"):
        write_formats(labelled, ["voc"], tmp_path)
    assert files(tmp_path / "voc") == before
