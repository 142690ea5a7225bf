"""YOLO as Ultralytics trains on it: a text file beside every photo, and ``data.yaml``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tag2box.product.exports.names import flat_names
from tag2box.product.exports.photos import copy_photo, put_photos
from tag2box.product.labelled import LabelledPhoto, LabelledPhotos

DATA = """\
path: ""  # the folder of this file
train: images/train
val: images/train  # name other photos here to measure honestly
names:"""


def write_yolo(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``data.yaml``, ``images/train/`` and ``labels/train/``; a photo without boxes has an empty label file.

    Photos are copied, because Ultralytics repairs broken ones in place.
    """
    photos = put_photos(labelled, folder / "images" / "train", flat_names, copy_photo)
    labels = folder / "labels" / "train"
    labels.mkdir(parents=True)
    for photo in photos:
        (labels / photo.name).with_suffix(".txt").write_text(_lines(photo, labelled.classes))
    names = "".join(f"\n  {number}: {_quoted(label)}" for number, label in enumerate(labelled.classes))
    (folder / "data.yaml").write_text(f"{DATA}{names or ' {}'}\n", encoding="utf-8")


def _lines(photo: LabelledPhoto, classes: Sequence[str]) -> str:
    """A line for each box: class, centre and size, as shares of the photo."""
    lines = []
    for found in photo.boxes:
        x0, y0, x1, y1 = found.box
        centre = ((x0 + x1) / 2 / photo.width, (y0 + y1) / 2 / photo.height)
        size = ((x1 - x0) / photo.width, (y1 - y0) / photo.height)
        numbers = " ".join(f"{share:.6f}" for share in (*centre, *size))
        lines.append(f"{classes.index(found.label)} {numbers}\n")
    return "".join(lines)


def _quoted(label: str) -> str:
    """A label as YAML: JSON, but for letters without a shape, which YAML wants by number."""
    text = json.dumps(label, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in text)
