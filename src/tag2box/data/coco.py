"""COCO annotation files: the full datasets of 2014 and 2017, and small ones in the same format."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from tag2box.data.dataset import Dataset, DatasetImage
from tag2box.errors import DatasetError, reason_of
from tag2box.types import Truth

EXPECTED = "a COCO annotation file with images, annotations and categories"


def read_coco(path: Path, images: Path | None = None) -> Dataset:
    """A COCO annotation file.

    Image files lie in ``images``; by default beside the annotation file, or where COCO itself puts them:
    ``annotations/instances_val2017.json`` goes with the folder ``val2017``. Crowds are ignored as COCO does, and so are
    boxes that an annotation calls ``difficult``.
    """
    content = _load(path)
    try:
        names = {category["id"]: str(category["name"]) for category in content["categories"]}
        objects = defaultdict(list)
        for annotation in content["annotations"]:
            objects[annotation["image_id"]].append(annotation)
        _require_known(path, objects, {image["id"] for image in content["images"]})
        folder = images if images is not None else _image_folder(path, content["images"])
        read = tuple(_image(folder, image, objects[image["id"]], names) for image in content["images"])
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(
            f"{path} does not hold what it should: {reason_of(error)}.", EXPECTED, "check the file."
        ) from error
    return Dataset(tuple(names.values()), read)


def _load(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read: {error}.", EXPECTED, "check the path.") from error
    if not isinstance(content, dict):
        raise DatasetError(f"{path} holds a {type(content).__name__}.", EXPECTED, "check the path.")
    return content


def _require_known(path: Path, objects: dict[Any, Any], images: set[Any]) -> None:
    strangers = [image for image in objects if image not in images]
    if strangers:
        raise DatasetError(
            f"{path} has boxes for the image {strangers[0]!r}, which it does not list.", EXPECTED, "check the file."
        )


def image_folders(path: Path) -> list[Path]:
    """Where the images of an annotation file may be: beside it, or where COCO itself puts them."""
    split = path.stem.removeprefix("instances_")
    return [path.parent, path.parent.parent / split, path.parent.parent / "images" / split]


def _image_folder(path: Path, images: list[dict[str, Any]]) -> Path:
    """The folder in which the first image is found."""
    tried = image_folders(path)
    for folder in tried:
        if not images or (folder / images[0]["file_name"]).is_file():
            return folder
    raise DatasetError(
        f"the images of {path} were not found: {images[0]['file_name']} is in none of {', '.join(map(str, tried))}.",
        "a folder with the image files",
        "name the folder of the images.",
    )


def _image(folder: Path, image: dict[str, Any], objects: list[dict[str, Any]], names: dict[int, str]) -> DatasetImage:
    height, width = int(image["height"]), int(image["width"])
    boxes = np.array([annotation["bbox"] for annotation in objects], dtype=np.float64).reshape(-1, 4)
    if not np.isfinite(boxes).all():
        raise ValueError(f"image {image['id']!r} has a box that is not made of numbers")
    boxes[:, 2:] += boxes[:, :2]
    boxes = np.clip(boxes, 0.0, [width, height, width, height])
    real = (boxes[:, 2:] > boxes[:, :2]).all(axis=1)  # COCO has a few boxes without area
    truth = Truth(
        str(image["id"]),
        boxes[real].astype(np.float32),
        np.array([names[annotation["category_id"]] for annotation in objects], dtype=np.str_)[real],
        np.array([bool(annotation.get("difficult", 0)) for annotation in objects], dtype=bool)[real],
        np.array([bool(annotation.get("iscrowd", 0)) for annotation in objects], dtype=bool)[real],
    )
    return DatasetImage(folder / image["file_name"], height, width, truth)
