"""COCO results: detections as a list, each with the ids of its photo and its class, and with their names.

The list holds the whole ranking, because average precision is an affair of all of it; ``found`` marks what reaches the
threshold of its class. COCO's own tool goes by the ids, so they must be those of the truth that it compares with.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tag2box.boxes import box_from_sides, sides_of_box
from tag2box.data.formats.coco import Id, load_coco, read_coco
from tag2box.data.formats.parsing import as_truth, box_numbers
from tag2box.data.labelled import FoundBox, LabelledPhoto, LabelledPhotos
from tag2box.data.partners import find_partners
from tag2box.data.photo_files import find_photos, photo_size
from tag2box.data.tags import clean_name
from tag2box.errors import ExportError, RunError, reason_of
from tag2box.types import Detection, Detections

FOUND = 0.5
"""The score at a class's threshold."""
MOST = 100
"""Detections of a photo in the file, the surest: as many as COCO counts."""


class ResultIds(NamedTuple):
    """What photos and classes are called in a file of results."""

    images: Mapping[str, Id]
    """By the photo's name"""
    categories: Mapping[str, Id]
    """By the label"""


def ids_in_order(names: Sequence[str], labels: Sequence[str]) -> ResultIds:
    """Photos and classes numbered from 1."""
    return ResultIds(*({name: number for number, name in enumerate(each, 1)} for each in (names, labels)))


def ids_from(truth: Path, names: Sequence[str], labels: Sequence[str]) -> ResultIds:
    """The ids that a COCO file of true boxes has for these photos, by their file names, and for these classes."""
    with as_truth():
        file = load_coco(truth)
    categories = {clean_name(name): number for number, name in file.categories.items()}
    strangers = [label for label in labels if clean_name(label) not in categories]
    if strangers:
        raise RunError(
            f"{truth} does not know {', '.join(map(repr, strangers))}.",
            f"categories with the names of the classes; it has {', '.join(map(repr, categories))}",
            "give the truth of these very classes, or take a class away with tag2box classes remove.",
        )
    as_written = {str(image["id"]): image["id"] for image in file.images}
    images: dict[str, Id] = {}
    for name, image in zip(names, find_partners(names, read_coco(truth)), strict=True):
        if image is None:
            raise RunError(
                f"the truth has no photo {name!r}.", "an id for every photo", "give the truth of these very photos."
            )
        images[name] = as_written[image.image_id]
    return ResultIds(images, {label: categories[clean_name(label)] for label in labels})


def coco_results(name: str, found: Detections, ids: ResultIds) -> list[dict[str, Any]]:
    """The surest detections of a photo as COCO writes results, with the names of photo and class."""
    return [
        {
            "image_id": ids.images[name],
            "category_id": ids.categories[one.label],
            "bbox": [round(side, 2) for side in sides_of_box(one.box)],
            "score": float(f"{one.score:.6g}"),
            "found": one.score >= FOUND,
            "category_name": one.label,
            "file_name": name,
        }
        for one in list(found)[:MOST]
    ]


def read_results(path: Path) -> dict[str, list[Detection]] | None:
    """Detections by file name; None if the file holds something else than a list."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, list):
            return None
        found = defaultdict(list)
        for place, entry in enumerate(content, 1):
            box = box_from_sides(*box_numbers(entry["bbox"], f"result {place}"))
            one = Detection(clean_name(str(entry["category_name"])), float(entry["score"]), box)
            found[str(entry["file_name"])].append(one)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(
            f"{path} cannot be read as boxes or detections: {reason_of(error)}.",
            "a folder that tag2box localize wrote, or a file of tag2box detect with file_name, category_name, bbox "
            "and score for every detection",
            "check the path.",
        ) from error
    return dict(found)


def labelled_results(path: Path, photos: Path, min_score: float = FOUND) -> LabelledPhotos:
    """The photos that were looked at, with what was found in them, as exports want it.

    ``photos`` is the folder that was given to ``tag2box detect``. A photo in which nothing reaches ``min_score`` has no
    box; nobody knows whether it shows something.
    """
    results = read_results(path)
    if results is None:
        raise ExportError(
            f"{path} holds no list of detections.", "a file of tag2box detect -o", "give the folder of a run instead."
        )
    files = {photo.image_id: photo.path for photo in find_photos([photos])}
    strangers = sorted(set(results) - set(files))
    if strangers:
        raise ExportError(
            f"{photos} has no photo {strangers[0]!r} ({len(strangers)} of {len(results)} are not there).",
            "the folder that was given to tag2box detect",
            "give it with --photos.",
        )
    labelled = [_labelled(name, files[name], found, min_score) for name, found in results.items()]
    classes = sorted({one.label for found in results.values() for one in found})
    return LabelledPhotos(photos.resolve(), tuple(classes), tuple(labelled))


def _labelled(name: str, path: Path, found: Sequence[Detection], min_score: float) -> LabelledPhoto:
    sure = tuple(FoundBox(one.label, one.box, one.score) for one in found if one.score >= min_score)
    return LabelledPhoto(name, *photo_size(path), sure)
