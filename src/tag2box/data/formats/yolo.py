"""YOLO labels, one text file for each photo with a line for each thing; ``data.yaml`` leads to them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tag2box.boxes import Box, Size, box_around, box_from_shares, shares_of_box
from tag2box.data.dataset import Dataset, DatasetImage, TrueBox
from tag2box.data.formats.parsing import as_truth, first_file, numbers, read_text
from tag2box.data.formats.placing import copy_photo, flat_names, put_photos
from tag2box.data.formats.yolo_yaml import is_yolo_yaml, read_yolo_yaml
from tag2box.data.labelled import LabelledPhoto, LabelledPhotos
from tag2box.data.photo_files import entries_of, photo_size, photos_below, skipped_below
from tag2box.data.tags import TagSet, clean_name, clean_tags
from tag2box.errors import TagsError

ENDINGS = {".yaml", ".yml"}
DATA = """\
path: ""  # the folder of this file
train: images/train
val: images/train  # name other photos here to measure honestly
names:"""


class _Layout(NamedTuple):
    """Where photos are and what the numbers in their labels mean."""

    folder: Path
    photo_folders: Sequence[Path]
    names: Mapping[int, str]

    @property
    def photos(self) -> list[Path]:
        """All photos, each once."""
        return list(dict.fromkeys(photo for place in self.photo_folders for photo in photos_below(place)))


class _Line(NamedTuple):
    """A thing in a photo."""

    label: str
    shape: Sequence[str]
    where: str


def is_yolo(place: Path) -> bool:
    """Whether a place is a YAML file, or a folder with one that names classes or with a list of classes."""
    if os.path.isdir(place):
        return bool(_find_yaml(place) or _find_classes(place))
    return place.suffix.lower() in ENDINGS


def read_yolo_tags(place: Path) -> TagSet:
    """The photos that a YAML file leads to, or those beside a ``classes.txt``, with the classes of their lines.

    A photo without labels shows none of the things.
    """
    layout = _layout(place)
    tags = {photo: _tags_of(photo, layout.names) for photo in layout.photos}
    skipped = [path for folder in layout.photo_folders for path in skipped_below(folder)]
    return TagSet.build(layout.folder, tags, "YOLO", skipped)


@as_truth()
def read_yolo(place: Path) -> Dataset:
    """The same photos with their boxes; of a polygon, the box around it.

    Boxes are shares of the photo's size, so the photos must be there.
    """
    layout = _layout(place)
    images = tuple(_true_image(photo, layout) for photo in layout.photos)
    names = (clean_name(layout.names[number]) for number in sorted(layout.names))
    return Dataset(tuple(dict.fromkeys(name for name in names if name)), images)


def _layout(place: Path) -> _Layout:
    classes = _find_classes(place)
    path = _find_yaml(place) if os.path.isdir(place) else place
    if path is None and classes:
        names = dict(enumerate(line.strip() for line in read_text(classes).rstrip().split("\n")))
        return _Layout(place, [place / "images"], names)
    path = Path(os.path.abspath(path or place))
    said = read_yolo_yaml(path)
    return _Layout(path.parent, [_photo_folder(path, said.root, way) for way in said.photos], said.names)


def _find_yaml(folder: Path) -> Path | None:
    """The YAML file of a folder that names classes, if there is one."""
    files = [path for path in entries_of(folder) if path.suffix.lower() in ENDINGS and os.path.isfile(path)]
    found = [path for path in files if is_yolo_yaml(path)]
    preferred = [path for path in found if path.stem == "data"] or found
    if len(preferred) > 1:
        raise TagsError(
            f"{folder} has {', '.join(path.name for path in preferred)}.",
            "one file with names",
            "give the file itself.",
        )
    return preferred[0] if preferred else None


def _find_classes(folder: Path) -> Path | None:
    """The list of classes of a folder with images and labels, if it is one."""
    path = folder / "classes.txt"
    folders = all(os.path.isdir(folder / name) for name in ("images", "labels"))
    return path if folders and os.path.isfile(path) else None


def _photo_folder(path: Path, root: str, place: str) -> Path:
    """A folder of photos: where the file says or, if the dataset was moved, beside the file."""
    starts, ways = (path.parent / root, path.parent), (place, place.removeprefix("../"))
    places = [start / way for start in starts for way in ways]
    tried = list(dict.fromkeys(Path(os.path.normpath(place)) for place in places))
    for folder in tried:
        if os.path.isdir(folder):
            return folder
    raise TagsError(
        f"{path} has photos at {place!r}, which is not a folder.",
        f"a folder at {' or '.join(map(str, tried))}",
        "correct path, train and val in the file; a list of photos (.txt) is not read.",
    )


def _lines_of(photo: Path, names: Mapping[int, str]) -> list[_Line]:
    label = first_file(_label_files(photo))
    lines = enumerate(read_text(label).split("\n"), start=1) if label else ()
    split = [(line.split(), f"{label}, line {number}") for number, line in lines if line.strip()]
    return [_Line(_name(words[0], names, where), words[1:], where) for words, where in split]


def _label_files(photo: Path) -> list[Path]:
    """Where the labels of a photo may be: in ``labels`` where the photo is in ``images``, or beside the photo."""
    beside = photo.with_suffix(".txt")
    parts = list(beside.absolute().parts)
    if "images" not in parts:
        return [beside]
    parts[len(parts) - 1 - parts[::-1].index("images")] = "labels"
    return [Path(*parts), beside]


def _name(word: str, names: Mapping[int, str], where: str) -> str:
    try:
        number = float(word)
    except ValueError:
        number = -1.0
    if number not in names or not names[int(number)]:
        raise TagsError(
            f"{where}, begins with {word[:40]!r}.",
            f"the number of one of the {len(names)} classes, from 0, before the box",
            "correct the line, or add the class to the names.",
        )
    return names[int(number)]


def _tags_of(photo: Path, names: Mapping[int, str]) -> frozenset[str]:
    lines = _lines_of(photo, names)
    return clean_tags({line.label for line in lines}, lines[0].where if lines else "")


def _true_image(photo: Path, layout: _Layout) -> DatasetImage:
    size = photo_size(photo)
    lines = _lines_of(photo, layout.names)
    boxes = [TrueBox(clean_name(line.label), _box_of(line, size)) for line in lines]
    return DatasetImage.build(photo, os.path.relpath(photo, layout.folder), size, boxes)


def _box_of(line: _Line, size: Size) -> Box:
    """The box of a line: centre and sides, perhaps with a confidence after them, or the corners of a polygon."""
    shape = numbers(line.shape, line.where)
    if len(shape) in {4, 5}:
        return box_from_shares(shape[0], shape[1], shape[2], shape[3], size)
    if len(shape) < 6 or len(shape) % 2:
        raise TagsError(
            f"{line.where}, has {len(shape)} numbers after the class.",
            "centre, width and height of a box, or the corners of a polygon",
            "correct the line.",
        )
    height, width = size
    return box_around((x * width, y * height) for x, y in zip(shape[::2], shape[1::2], strict=True))


def write_yolo(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``data.yaml``, ``images/train/`` and ``labels/train/``; a photo without boxes has an empty label file.

    Photos are copied, because Ultralytics repairs broken ones in place.
    """
    photos = put_photos(labelled, folder / "images" / "train", flat_names, copy_photo)
    labels = folder / "labels" / "train"
    labels.mkdir(parents=True)
    for photo in photos:
        (labels / photo.name).with_suffix(".txt").write_text(_lines(photo, labelled.classes))
    names = "".join(f"\n  {number}: {_quoted(label)}" for number, label in enumerate(labelled.classes))
    (folder / "data.yaml").write_text(f"{DATA}{names or ' {}'}\n", encoding="utf-8")


def _lines(photo: LabelledPhoto, classes: Sequence[str]) -> str:
    """A line for each box: class, centre and size, as shares of the photo."""
    rows = [(classes.index(found.label), shares_of_box(found.box, photo.size)) for found in photo.boxes]
    return "".join(f"{number} {' '.join(f'{share:.6f}' for share in shares)}\n" for number, shares in rows)


def _quoted(label: str) -> str:
    """A label as YAML: JSON, but for letters without a shape, which YAML wants by number."""
    text = json.dumps(label, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in text)
