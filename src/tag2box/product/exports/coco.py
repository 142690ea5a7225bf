"""COCO: one JSON file, with the score and the doubt of every box."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tag2box.product.exports.names import tree_names
from tag2box.product.exports.photos import link_photo, put_photos
from tag2box.product.labelled import LabelledPhotos, write_boxes


def write_coco(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``annotations.json`` and ``images/``; file names begin beside the annotations."""
    photos = put_photos(labelled, folder / "images", tree_names, link_photo)
    named = tuple(replace(photo, name=f"images/{photo.name}") for photo in photos)
    write_boxes(folder / "annotations.json", LabelledPhotos(Path(), labelled.classes, named), {})
