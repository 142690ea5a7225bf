"""The formats by name, and the export of a run in several of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tag2box.errors import ExportError
from tag2box.product.exports.coco import write_coco
from tag2box.product.exports.cvat import write_cvat
from tag2box.product.exports.folders import replacing_folder, require_replaceable
from tag2box.product.exports.labelstudio import write_labelstudio
from tag2box.product.exports.names import NOT_IN_LINES
from tag2box.product.exports.photos import require_photos
from tag2box.product.exports.voc import write_voc
from tag2box.product.exports.yolo import write_yolo
from tag2box.product.labelled import FoundBox, LabelledPhoto, LabelledPhotos

Export = Callable[[LabelledPhotos, Path], None]
"""Fills an empty folder with photos and their boxes."""

EXPORTS: Mapping[str, Export] = {
    "coco": write_coco,
    "yolo": write_yolo,
    "voc": write_voc,
    "labelstudio": write_labelstudio,
    "cvat": write_cvat,
}


def export_run(
    labelled: LabelledPhotos, formats: Sequence[str], output: Path, max_doubt: float | None = None
) -> list[Path]:
    """Write ``output/<format>`` for each format; the folders. Boxes of more doubt than ``max_doubt`` are left out.

    Nothing is written if a format is unknown, a photo is missing or a folder is somebody else's; a folder that cannot
    be finished is not left behind.
    """
    wanted = list(dict.fromkeys(formats))
    _require_known(wanted)
    require_photos(labelled)
    folders = [output / name for name in wanted]
    for folder in folders:
        with _writing_to(folder):
            require_replaceable(folder)
    ready = _ready(labelled, 1.0 if max_doubt is None else max_doubt)
    for name, folder in zip(wanted, folders, strict=True):
        with _writing_to(folder), replacing_folder(folder) as fresh:
            EXPORTS[name](ready, fresh)
    return folders


def _require_known(formats: Sequence[str]) -> None:
    unknown = [name for name in formats if name not in EXPORTS]
    if unknown or not formats:
        raise ExportError(
            f"{unknown[0]!r} is no format." if unknown else "no format was named.",
            f"one or more of {', '.join(EXPORTS)}",
            "name the formats with --to, separated by commas.",
        )


def _ready(labelled: LabelledPhotos, max_doubt: float) -> LabelledPhotos:
    """The photos with the boxes to export: inside the photo, and under labels of one line."""
    classes = tuple(dict.fromkeys(_one_line(label) for label in labelled.classes))
    photos = (replace(photo, boxes=_kept(photo, max_doubt)) for photo in labelled.photos)
    return LabelledPhotos(labelled.folder, classes, tuple(photos))


def _kept(photo: LabelledPhoto, max_doubt: float) -> tuple[FoundBox, ...]:
    inside = (_inside(found, photo) for found in photo.boxes if found.doubt <= max_doubt)
    return tuple(found for found in inside if found.box[0] < found.box[2] and found.box[1] < found.box[3])


def _inside(found: FoundBox, photo: LabelledPhoto) -> FoundBox:
    """The box cut at the photo's edges, over which rounding may have pushed it."""
    x0, y0, x1, y1 = found.box
    box = (max(x0, 0.0), max(y0, 0.0), min(x1, float(photo.width)), min(y1, float(photo.height)))
    return replace(found, label=_one_line(found.label), box=box)


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
