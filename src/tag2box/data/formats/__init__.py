"""Annotation formats, one module for each: what it reads as tags, what it reads as truth and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, final

from tag2box.boxes import clipped_box, has_area
from tag2box.data.dataset import Dataset
from tag2box.data.formats.coco import is_coco, read_coco, read_coco_tags, write_coco
from tag2box.data.formats.coco_layouts import (
    is_roboflow,
    read_roboflow,
    read_roboflow_tags,
    write_fiftyone,
    write_roboflow,
)
from tag2box.data.formats.cvat import is_cvat, read_cvat, read_cvat_tags, write_cvat
from tag2box.data.formats.folders import is_folder, read_folders
from tag2box.data.formats.huggingface import write_huggingface
from tag2box.data.formats.label_studio import (
    is_label_studio,
    read_label_studio,
    read_label_studio_tags,
    write_label_studio,
)
from tag2box.data.formats.placing import NOT_IN_LINES, require_photos
from tag2box.data.formats.splitting import split_photos
from tag2box.data.formats.tables import is_table, read_table
from tag2box.data.formats.voc import is_ilsvrc, is_voc, read_voc, read_voc_tags, write_voc
from tag2box.data.formats.yolo import is_yolo, read_yolo, read_yolo_tags, write_yolo
from tag2box.data.labelled import FoundBox, LabelledPhoto, LabelledPhotos
from tag2box.data.tags import TagSet
from tag2box.errors import ExportError
from tag2box.files import replacing_folder, require_replaceable


@final
@dataclass(frozen=True)
class Format:
    """A way in which people write down what is in photos."""

    name: str
    recognises: Callable[[Path], bool] | None = None
    """Whether a file or a folder is written so; None if it is written only, or read as another format"""
    read_tags: Callable[[Path], TagSet] | None = None
    read_truth: Callable[[Path], Dataset] | None = None
    """None if it has no boxes"""
    write: Callable[[LabelledPhotos, Path], None] | None = None
    """Fills an empty folder with photos and their boxes"""
    is_split: bool = False
    """Whether it is written in parts: for training, for choosing, for judging"""


FORMATS: tuple[Format, ...] = (
    Format("table", is_table, read_table),
    Format("labelstudio", is_label_studio, read_label_studio_tags, read_label_studio, write_label_studio),
    Format("roboflow", is_roboflow, read_roboflow_tags, read_roboflow, write_roboflow, is_split=True),
    Format("coco", is_coco, read_coco_tags, read_coco, write_coco),
    Format("cvat", is_cvat, read_cvat_tags, read_cvat, write_cvat),
    Format("yolo", is_yolo, read_yolo_tags, read_yolo, write_yolo),
    Format("voc", is_voc, read_voc_tags, read_voc, write_voc),
    Format("ilsvrc", is_ilsvrc, read_voc_tags, read_voc),
    Format("folders", is_folder, read_folders),
    Format("fiftyone", write=write_fiftyone),
    Format("huggingface", write=write_huggingface, is_split=True),
)
"""All formats; the first that recognises a place is the one it is read by."""


WRITER = "tag2box export"


class Written(NamedTuple):
    """What an export has written."""

    folders: tuple[Path, ...]
    photos: int
    """How many are in each folder"""
    left_out: int
    """Photos that show something of which no box is left: as photos of nothing they would teach what is wrong"""
    parts: Mapping[str, int]
    """Of formats that are split: train, valid and test → photos; empty if there is none"""


def format_of(place: Path) -> Format | None:
    """The format in which a file or folder is written, if it is in any."""
    return next((each for each in FORMATS if each.recognises and each.recognises(place)), None)


def write_formats(
    labelled: LabelledPhotos, formats: Sequence[str], output: Path, max_doubt: float | None = None
) -> Written:
    """Write ``output/<format>`` for each format. Boxes of more doubt than ``max_doubt`` are left out.

    A photo of which no box is left goes with them, unless it shows none of the things. Nothing is written if a format
    is unknown, a photo is missing or a folder is somebody else's; a folder that cannot be finished is not left behind.
    """
    writers = _writers(formats)
    ready = _ready(labelled, 1.0 if max_doubt is None else max_doubt)
    require_photos(ready)
    folders = {output / name: write for name, write in writers.items()}
    for folder in folders:
        with _writing_to(folder):
            require_replaceable(folder, WRITER)
    for folder, write in folders.items():
        with _writing_to(folder), replacing_folder(folder, WRITER) as fresh:
            write(ready, fresh)
    split = any(each.is_split for each in FORMATS if each.name in writers)
    parts = {part: len(photos) for part, photos in split_photos(ready.photos).items()} if split else {}
    return Written(tuple(folders), len(ready.photos), len(labelled.photos) - len(ready.photos), parts)


def _writers(names: Sequence[str]) -> dict[str, Callable[[LabelledPhotos, Path], None]]:
    known = {each.name: each.write for each in FORMATS if each.write}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ExportError(
            f"{unknown[0]!r} is no format." if unknown else "no format was named.",
            f"one or more of {', '.join(sorted(known))}",
            "name the formats with --to, separated by commas.",
        )
    return {name: known[name] for name in names}


def _ready(labelled: LabelledPhotos, max_doubt: float) -> LabelledPhotos:
    """The photos with the boxes to export: inside the photo, and under labels of one line."""
    classes = tuple(dict.fromkeys(_one_line(label) for label in labelled.classes))
    kept = [(photo, _kept(photo, max_doubt)) for photo in labelled.photos]
    photos = tuple(replace(photo, boxes=boxes) for photo, boxes in kept if boxes or not photo.shows_something)
    if labelled.photos and not photos:
        raise ExportError(
            f"none of the {len(labelled.photos)} photos has a box of so little doubt.",
            "at least one box, or one photo without any of the things",
            "allow more with --max-doubt.",
        )
    return LabelledPhotos(labelled.folder, classes, photos)


def _kept(photo: LabelledPhoto, max_doubt: float) -> tuple[FoundBox, ...]:
    """The boxes of little doubt, cut at the photo's edges, over which rounding may have pushed them."""
    sure = (found for found in photo.boxes if found.doubt <= max_doubt or not found.is_judged)
    cut = (replace(each, label=_one_line(each.label), box=clipped_box(each.box, photo.size)) for each in sure)
    return tuple(found for found in cut if has_area(found.box))


def _one_line(label: str) -> str:
    """A label without line breaks and without what no file of text can hold."""
    return NOT_IN_LINES.sub(" ", label)


@contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    """Whatever the disk refuses in the block becomes an error of ours."""
    try:
        yield
    except OSError as error:
        raise ExportError(
            f"{folder} cannot be written: {error}.",
            "a disk with room, and a folder that may be written to",
            "make room, or choose another folder with -o.",
        ) from error
