"""Detections as COCO writes results: numbers for photos and classes, and the entries of the file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tag2box.data import read_coco
from tag2box.errors import RunError
from tag2box.product.detecting import FOUND
from tag2box.product.partners import find_partners
from tag2box.types import Detections

MOST = 100
"""Detections of a photo in the file, the surest: as many as COCO counts."""


class ResultIds(NamedTuple):
    """What photos and classes are called in a file of results."""

    images: Mapping[str, Any]
    """By the photo's name"""
    categories: Mapping[str, Any]
    """By the label"""


def ids_in_order(names: Sequence[str], labels: Sequence[str]) -> ResultIds:
    """Photos and classes numbered from 1."""
    return ResultIds(*({name: number for number, name in enumerate(each, 1)} for each in (names, labels)))


def ids_from(truth: Path, names: Sequence[str], labels: Sequence[str]) -> ResultIds:
    """The ids that a COCO file of true boxes has for these photos, by their file names, and for these classes."""
    partners = find_partners(names, read_coco(truth, images=truth.parent))
    content = json.loads(truth.read_text(encoding="utf-8"))
    as_written = {str(image["id"]): image["id"] for image in content["images"]}
    categories = {category["name"]: category["id"] for category in content["categories"]}
    strangers = [label for label in labels if label not in categories]
    if strangers:
        raise RunError(
            f"{truth} does not know {', '.join(map(repr, strangers))}.",
            f"categories with the names of the classes; it has {', '.join(map(repr, categories))}",
            "give the truth of these very classes, or take a class away with tag2box classes remove.",
        )
    images = {name: as_written[image.image_id] for name, image in zip(names, partners, strict=True)}
    return ResultIds(images, {label: categories[label] for label in labels})


def coco_results(name: str, found: Detections, ids: ResultIds) -> list[dict[str, Any]]:
    """Detections of a photo as COCO writes results, with the names of photo and class.

    The ranking is whole, as average precision wants it; ``found`` marks what reaches the threshold of its class.
    """
    return [
        {
            "image_id": ids.images[name],
            "category_id": ids.categories[one.label],
            "bbox": [round(value, 2) for value in (x0, y0, x1 - x0, y1 - y0)],
            "score": float(f"{one.score:.6g}"),
            "found": one.score >= FOUND,
            "category_name": one.label,
            "file_name": name,
        }
        for one in list(found)[:MOST]
        for x0, y0, x1, y1 in [one.box]
    ]
