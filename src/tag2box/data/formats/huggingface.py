"""Hugging Face: an image folder with a ``metadata.jsonl`` for each part of a split, as ``datasets`` loads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tag2box.boxes import sides_of_box
from tag2box.data.formats.placing import flat_names, link_photo, put_photos
from tag2box.data.formats.splitting import split_photos
from tag2box.data.labelled import LabelledPhoto, LabelledPhotos
from tag2box.files import write_json, write_text

FOLDERS = {"train": "train", "valid": "validation", "test": "test"}
"""As ``datasets`` calls the parts of a split."""


def write_huggingface(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``train/``, ``validation/`` and ``test/``, each with its photos and what is in them, and ``classes.json``.

    A part without photos has no folder: ``datasets`` cannot tell of what kind the boxes are that it does not have.
    """
    names = [photo.name for photo in labelled.photos]
    flat = dict(zip(names, flat_names(names), strict=True))
    numbers = {label: number for number, label in enumerate(labelled.classes)}
    images = boxes = 0
    for part, photos in split_photos(labelled.photos).items():
        if not photos:
            continue
        place = folder / FOLDERS[part]
        put = put_photos(
            replace(labelled, photos=tuple(photos)), place, lambda some: [flat[name] for name in some], link_photo
        )
        lines = []
        for photo in put:
            images += 1
            lines.append(json.dumps(_line(photo, images, boxes, numbers), ensure_ascii=False))
            boxes += len(photo.boxes)
        write_text(place / "metadata.jsonl", "".join(f"{line}\n" for line in lines))
    write_json(folder / "classes.json", list(labelled.classes))


def _line(photo: LabelledPhoto, image: int, before: int, numbers: Mapping[str, int]) -> dict[str, Any]:
    """What is in a photo; its boxes are numbered on from those ``before``.

    Sides and areas have a point even if they are whole: of two kinds of numbers ``datasets`` makes two
    kinds of columns, which do not go together.
    """
    sides = [[round(float(side), 2) for side in sides_of_box(found.box)] for found in photo.boxes]
    things = {
        "id": [before + place for place in range(1, len(sides) + 1)],
        "area": [round(width * height, 2) for _, _, width, height in sides],
        "bbox": sides,
        "category": [numbers[found.label] for found in photo.boxes],
    }
    size = {"width": photo.width, "height": photo.height}
    return {"file_name": photo.name, "image_id": image, **size, "objects": things}
