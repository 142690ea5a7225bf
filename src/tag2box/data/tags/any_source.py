"""The one door for tagged photos: what kind of source it is shows in its files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tag2box.data.tags.annotation_files import read_json
from tag2box.data.tags.coco import coco_tags
from tag2box.data.tags.cvat import find_cvat, read_cvat
from tag2box.data.tags.folders import WAYS, read_folders
from tag2box.data.tags.label_studio import label_studio_tags
from tag2box.data.tags.metadata import find_metadata, read_metadata
from tag2box.data.tags.photo_files import is_photo
from tag2box.data.tags.tag_set import TagSet
from tag2box.data.tags.voc import find_annotations, find_xml_beside_photos, read_annotations, read_xml_beside_photos
from tag2box.data.tags.yolo import find_yolo_classes, find_yolo_yaml, read_yolo, read_yolo_folders
from tag2box.errors import TagsError

Reader = Callable[[Path], TagSet]
Finder = Callable[[Path], Path | None]


def read_tags(place: Path) -> TagSet:
    """The photos at a place and their tags; of annotations with boxes, only what is in which photo is used.

    The place is a folder with a folder for each tag, a folder with ``metadata.csv`` or ``metadata.jsonl``, or
    annotations: a file of COCO, Label Studio or CVAT, YOLO's ``data.yaml``, a folder in YOLO's or VOC's layout.
    """
    if os.path.isdir(place):
        return _read_folder(place)
    if not os.path.exists(place):
        raise TagsError(f"there is nothing at {place}.", WAYS, "check the path.")
    return _read_file(place)


def _read_file(path: Path) -> TagSet:
    reader = READERS.get(path.suffix.lower())
    if reader:
        return reader(path)
    wrong = "is a single photo" if is_photo(path) else "is no kind of file that holds tags"
    raise TagsError(f"{path} {wrong}.", WAYS, "give the folder of the photos, or the file with the annotations.")


def _read_folder(folder: Path) -> TagSet:
    for find, read in LAYOUTS:
        found = find(folder)
        if found:
            return read(found)
    return read_folders(folder)


def _read_json(path: Path) -> TagSet:
    """Label Studio exports a list of tasks, COCO is an object."""
    content = read_json(path)
    return label_studio_tags(path, content) if isinstance(content, list) else coco_tags(path, content)


READERS: dict[str, Reader] = {
    ".csv": read_metadata,
    ".jsonl": read_metadata,
    ".json": _read_json,
    ".xml": read_cvat,
    ".yaml": read_yolo,
    ".yml": read_yolo,
}
"""The ending of a file → what reads it."""

LAYOUTS: tuple[tuple[Finder, Reader], ...] = (
    (find_metadata, read_metadata),
    (find_cvat, read_cvat),
    (find_yolo_yaml, read_yolo),
    (find_yolo_classes, read_yolo_folders),
    (find_annotations, read_annotations),
    (find_xml_beside_photos, read_xml_beside_photos),
)
"""What gives a layout away, the surest signs first, and what reads it. Folders named after tags give no sign."""
