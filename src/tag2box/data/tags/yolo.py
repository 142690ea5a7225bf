"""Tags from YOLO labels, one text file for each photo: a photo has the classes of its lines."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tag2box.data.tags.annotation_files import read_text
from tag2box.data.tags.photo_files import entries_of, photos_below
from tag2box.data.tags.tag_set import TagSet
from tag2box.data.tags.tag_words import clean_tags
from tag2box.data.tags.yolo_yaml import is_yolo_yaml, read_yolo_yaml
from tag2box.errors import TagsError

ENDINGS = {".yaml", ".yml"}


def find_yolo_yaml(folder: Path) -> Path | None:
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


def find_yolo_classes(folder: Path) -> Path | None:
    """The list of classes of a folder with images and labels, if it is one."""
    path = folder / "classes.txt"
    folders = all(os.path.isdir(folder / name) for name in ("images", "labels"))
    return path if folders and os.path.isfile(path) else None


def read_yolo_folders(path: Path) -> TagSet:
    """The photos in ``images`` beside a ``classes.txt``, with their labels in ``labels``."""
    names = dict(enumerate(line.strip() for line in read_text(path).rstrip().split("\n")))
    return _tag_set(path.parent, [path.parent / "images"], names)


def read_yolo(path: Path) -> TagSet:
    """The photos that a YAML file leads to. One without labels shows none of the things."""
    path = Path(os.path.abspath(path))
    layout = read_yolo_yaml(path)
    folders = [_photo_folder(path, layout.root, place) for place in layout.photos]
    return _tag_set(path.parent, folders, layout.names)


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


def _tag_set(folder: Path, photo_folders: Sequence[Path], names: Mapping[int, str]) -> TagSet:
    photos = [photo for place in photo_folders for photo in photos_below(place)]
    return TagSet.build(folder, {photo: _tags_of(photo, names) for photo in photos}, "YOLO")


def _tags_of(photo: Path, names: Mapping[int, str]) -> frozenset[str]:
    label = next((path for path in _label_files(photo) if os.path.isfile(path)), None)
    lines = read_text(label).split("\n") if label else []
    words = {_name(line, names, f"{label}, line {n}") for n, line in enumerate(lines, start=1) if line.strip()}
    return clean_tags(words, str(label))


def _label_files(photo: Path) -> list[Path]:
    """Where the labels of a photo may be: in ``labels`` where the photo is in ``images``, or beside the photo."""
    beside = photo.with_suffix(".txt")
    parts = list(beside.absolute().parts)
    if "images" not in parts:
        return [beside]
    parts[len(parts) - 1 - parts[::-1].index("images")] = "labels"
    return [Path(*parts), beside]


def _name(line: str, names: Mapping[int, str], where: str) -> str:
    word = line.split()[0]
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
