"""The doors for tagged photos and for true boxes: what kind of source it is shows in its files."""

from __future__ import annotations

import os
from pathlib import Path

from tag2box.data.dataset import Dataset
from tag2box.data.formats import format_of
from tag2box.data.formats.folders import WAYS
from tag2box.data.formats.parsing import as_truth
from tag2box.data.photo_files import is_photo
from tag2box.data.tags import TagSet
from tag2box.errors import DatasetError, TagsError

TRUTHS = (
    "annotations with boxes: COCO or Label Studio (.json), CVAT (.xml), YOLO (data.yaml), a folder with VOC's "
    "Annotations/, or VOC2007/ImageSets/Main/….txt or ILSVRC/ImageSets/DET/….txt"
)
"""How true boxes can be given."""


def read_tags(place: Path) -> TagSet:
    """The photos at a place and their tags; of annotations with boxes, only what is in which photo is used.

    The place is a folder with a folder for each tag, a folder with ``metadata.csv`` or ``metadata.jsonl``, or
    annotations: a file of COCO, Label Studio or CVAT, YOLO's ``data.yaml``, a folder in YOLO's or VOC's layout.
    """
    if not os.path.exists(place):
        raise TagsError(f"there is nothing at {place}.", WAYS, "check the path.")
    format_found = format_of(place)
    if format_found is None or format_found.read_tags is None:
        wrong = "is a single photo" if is_photo(place) else "is no kind of file that holds tags"
        raise TagsError(f"{place} {wrong}.", WAYS, "give the folder of the photos, or the file with the annotations.")
    return format_found.read_tags(place)


def read_truth(place: Path) -> Dataset:
    """The images at a place and their true boxes; the picture files need not be there.

    The place is a file or a folder of annotations in any format that has boxes. For VOC and ILSVRC DET an image set of
    theirs will do: the rest is found from there, where the publishers put it.
    """
    with as_truth():
        format_found = format_of(place)
    if format_found is None or format_found.read_truth is None:
        raise DatasetError(f"{place} names no dataset with boxes.", TRUTHS, "give one of these.")
    return format_found.read_truth(place)


def read_dataset(place: Path) -> Dataset:
    """The same, for who wants to look at the pictures: at least the first must be there."""
    dataset = read_truth(place)
    if dataset.images and not dataset.images[0].path.is_file():
        raise DatasetError(
            f"the images of {place} were not found: there is no {dataset.images[0].path}, nor is it where such images "
            "lie beside annotations.",
            "a folder with the image files",
            "put the images there.",
        )
    return dataset
