"""Photos with the boxes that were found in them: what a run writes, and what exports and judgements read.

``boxes.json`` is a COCO annotation file whose annotations also have a ``score`` and a ``doubt``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from tag2box.errors import RunError, reason_of
from tag2box.files import write_json

BOXES_NAME = "boxes.json"
LICENSES = [{"id": 1, "name": "unknown", "url": ""}]
"""Some tools refuse a COCO file without any."""


@final
@dataclass(frozen=True)
class FoundBox:
    """One thing in a photo."""

    label: str
    box: tuple[float, float, float, float]
    """x0 y0 x1 y1 in pixels of the upright photo, upper edge exclusive"""
    score: float
    """How much of the photo's weight is on it, between 0 and 1"""
    doubt: float
    """Probability that it is wrong, between 0 and 1"""


@final
@dataclass(frozen=True)
class LabelledPhoto:
    """A photo with its boxes."""

    name: str
    """Path from the folder of photos, with forward slashes"""
    height: int
    width: int
    boxes: tuple[FoundBox, ...]


@final
@dataclass(frozen=True)
class LabelledPhotos:
    """A folder of photos with their boxes."""

    folder: Path
    """Where the names of the photos begin"""
    classes: tuple[str, ...]
    photos: tuple[LabelledPhoto, ...]


def write_boxes(path: Path, labelled: LabelledPhotos, about: dict[str, Any]) -> None:
    """Write a COCO file; ``about`` goes into its ``info``."""
    numbers = {label: number for number, label in enumerate(labelled.classes, 1)}
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for image, photo in enumerate(labelled.photos, 1):
        images.append({"id": image, "file_name": photo.name, "width": photo.width, "height": photo.height})
        for found in photo.boxes:
            x0, y0, x1, y1 = (round(edge, 2) for edge in found.box)
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image,
                    "category_id": numbers[found.label],
                    "bbox": [x0, y0, round(x1 - x0, 2), round(y1 - y0, 2)],
                    "area": round((x1 - x0) * (y1 - y0), 2),
                    "iscrowd": 0,
                    "score": round(found.score, 4),
                    "doubt": round(found.doubt, 4),
                }
            )
    content = {
        "info": {"description": "boxes that tag2box found", "photos": str(labelled.folder), **about},
        "licenses": LICENSES,
        "images": images,
        "categories": [{"id": number, "name": label, "supercategory": ""} for label, number in numbers.items()],
        "annotations": annotations,
    }
    write_json(path, content)


def read_boxes(path: Path) -> LabelledPhotos:
    """The boxes of a run, given its folder or its file; a file of another kind is refused by name."""
    file = path / BOXES_NAME if path.is_dir() else path
    try:
        return _labelled(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(
            f"{file} cannot be read as boxes: {reason_of(error)}.",
            f"a folder that tag2box localize wrote, with {BOXES_NAME} in it",
            "check the path, or localize the photos again.",
        ) from error


def _labelled(content: dict[str, Any]) -> LabelledPhotos:
    names = {entry["id"]: str(entry["name"]) for entry in content["categories"]}
    found = defaultdict(list)
    for entry in content["annotations"]:
        x, y, width, height = (float(value) for value in entry["bbox"])
        box = FoundBox(
            names[entry["category_id"]], (x, y, x + width, y + height), float(entry["score"]), float(entry["doubt"])
        )
        found[entry["image_id"]].append(box)
    photos = tuple(
        LabelledPhoto(str(entry["file_name"]), int(entry["height"]), int(entry["width"]), tuple(found[entry["id"]]))
        for entry in content["images"]
    )
    return LabelledPhotos(Path(content["info"]["photos"]), tuple(names.values()), photos)
