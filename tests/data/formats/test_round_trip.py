"""What we write, we read: as tags and as truth, in every format, whatever photos and things are called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tag2box.boxes import Box, box_from_pixels, pixels_of_box
from tag2box.data import FORMATS, Dataset, FoundBox, LabelledPhotos, read_tags, read_truth, write_formats
from tag2box.data.formats.placing import Naming, flat_names, tree_names
from tag2box.data.partners import find_partners

Take = Callable[..., LabelledPhotos]
FILES = {"coco": "annotations.json", "labelstudio": "tasks.json", "cvat": "", "yolo": "", "voc": ""}
FILES |= {"roboflow": "", "fiftyone": "labels.json"}
"""What of an export is given to the readers."""
WRITTEN = sorted(FILES)
ONLY_WRITTEN = {"huggingface"}

FOLDERS: dict[str, tuple[str, Naming]] = {
    "coco": ("images", tree_names),
    "labelstudio": ("images", tree_names),
    "cvat": ("images", tree_names),
    "yolo": ("images/train", flat_names),
    "voc": ("JPEGImages", flat_names),
    "roboflow": ("", flat_names),
    "fiftyone": ("", tree_names),
}
"""Where photos are in an export, for readers, and how they are called; Roboflow has a folder for each part."""

ROUNDING = 0.011
CUP, PEN = (1.25, 2.5, 30.75, 39.5), (10.0, 10.0, 50.0, 40.0)


def box(label: str, where: Box) -> FoundBox:
    return FoundBox(label, where, 0.9, 0.1)


@pytest.fixture
def odd(tmp_path: Path, take_photos: Take) -> LabelledPhotos:
    """Photos of the same names in several folders, and things with names that formats have to quote."""
    things = [
        'tea & "milk" <x>',
        "чашка",
        "ci: cd",
        "it's 5 o'clock",
        "a\u200bb\xa0c",
        "# 1",
        "[x], {y}",
        "\\U00000041",
    ]
    return take_photos(
        tmp_path / "photos",
        {
            "cup/a b.png": ((40, 50), (box("cup", CUP), box("pen", PEN), box("cup", PEN))),
            "pen/a b.png": ((41, 51), (box("pen", PEN),)),
            "a b.png": ((43, 53), tuple(box(thing, CUP) for thing in things)),
            "_none/50%41 #1?é.png": ((20, 10), ()),
            "пёс/x\n😀.png": ((400, 333), (box("cup", (0.0, 0.0, 333.0, 400.0)),)),
        },
    )


def outward(where: Box) -> Box:
    """The box in whole pixels, as VOC has it."""
    return box_from_pixels(*pixels_of_box(where), 1)


def require_same(truth: Dataset, labelled: LabelledPhotos, name: str) -> None:
    images = find_partners([photo.name for photo in labelled.photos], truth)
    assert len(truth) == len(labelled.photos)
    for photo, image in zip(labelled.photos, images, strict=True):
        assert image is not None
        assert (image.height, image.width) == photo.size
        assert image.truth.labels.tolist() == [found.label for found in photo.boxes]
        assert not image.truth.ignore.any()
        for read, found in zip(image.truth.boxes.tolist(), photo.boxes, strict=True):
            assert read == pytest.approx(outward(found.box) if name == "voc" else found.box, abs=ROUNDING)


def _without_part(photo: str, name: str) -> str:
    return photo.split("/")[1] if name == "roboflow" else photo


def test_no_format_is_left_out() -> None:
    assert {each.name for each in FORMATS if each.write} == set(WRITTEN) | ONLY_WRITTEN


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_read_as_tags(odd: LabelledPhotos, tmp_path: Path, name: str) -> None:
    write_formats(odd, [name], tmp_path)
    tags = read_tags(tmp_path / name / FILES[name])
    folder, naming = FOLDERS[name]
    names = naming([photo.name for photo in odd.photos])
    read = {_without_part(photo.name, name): photo.tags for photo in tags.photos}
    assert read == {
        str(Path(folder, new)): {found.label for found in photo.boxes}
        for new, photo in zip(names, odd.photos, strict=True)
    }


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_read_as_truth(odd: LabelledPhotos, tmp_path: Path, name: str) -> None:
    write_formats(odd, [name], tmp_path)
    truth = read_truth(tmp_path / name / FILES[name])
    assert sorted(truth.classes) == sorted(odd.classes)
    require_same(truth, odd, name)


def test_an_image_set_of_our_voc_is_enough(odd: LabelledPhotos, tmp_path: Path) -> None:
    write_formats(odd, ["voc"], tmp_path)
    path = tmp_path / "voc" / "ImageSets" / "Main" / "trainval.txt"
    require_same(read_truth(path), odd, "voc")
    assert {photo.tags for photo in read_tags(path).photos} == {
        frozenset(found.label for found in photo.boxes) for photo in odd.photos
    }


@pytest.mark.parametrize("name", sorted(set(WRITTEN) - {"yolo", "labelstudio"}))
def test_truth_is_read_where_the_photos_are_gone(odd: LabelledPhotos, tmp_path: Path, name: str) -> None:
    """YOLO's boxes are shares of a photo's size, and Label Studio says nothing of the size of a photo without boxes."""
    write_formats(odd, [name], tmp_path)
    for path in (tmp_path / name).rglob("*.png"):
        path.unlink()
    truth = read_truth(tmp_path / name / FILES[name])
    labels = [sorted(image.truth.labels.tolist()) for image in truth.images]
    assert sorted(labels) == sorted(sorted(found.label for found in photo.boxes) for photo in odd.photos)
