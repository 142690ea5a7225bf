"""Tags from COCO annotations: a photo has the categories of its annotations, with or without boxes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tag2box.data.coco import image_folders
from tag2box.data.tags.annotation_files import field, id_field
from tag2box.data.tags.mentions import Mention, find_mentioned, inside
from tag2box.data.tags.tag_set import TagSet
from tag2box.data.tags.tag_words import clean_tags
from tag2box.errors import TagsError

EXPECTED = "images, annotations and categories whose ids belong together"


def coco_tags(path: Path, content: Any) -> TagSet:
    """The photos of a COCO file with the given content; those without annotations have no tag.

    An object counts however hard it is to see: a crowd and a difficult object are in the photo all the same.
    """
    images = field(content, "images", list, str(path))
    folder = _folder(path, images)
    return TagSet.build(folder, find_mentioned(_mentions(path, content, images, folder), path), "COCO")


def _folder(path: Path, images: Sequence[Any]) -> Path:
    """Where the first photo is found; beside the file if it is nowhere."""
    folders = [*image_folders(path), path.parent / "images", path.parent.parent / "images"]
    first = str(images[0].get("file_name")) if images and isinstance(images[0], dict) else ""
    return next((folder for folder in folders if os.path.isfile(folder / first)), path.parent)


def _mentions(path: Path, content: Any, images: Sequence[Any], folder: Path) -> Iterator[Mention]:
    words = _words(path, content, images)
    for number, image in enumerate(images, start=1):
        where = f"image {number}"
        name = field(image, "file_name", str, f"{where} of {path}")
        tags = clean_tags(words[image["id"]], f"{path}, {where}")
        yield Mention([inside(folder, name, f"{path}, {where}")], tags, where)


def _words(path: Path, content: Any, images: Sequence[Any]) -> dict[int | str, set[str]]:
    """Image id → names of the categories in it."""
    names = _category_names(path, content)
    words: dict[int | str, set[str]] = {
        id_field(image, "id", f"image {number} of {path}"): set() for number, image in enumerate(images, start=1)
    }
    if len(words) < len(images):
        raise TagsError(f"{path} gives two images the same id.", EXPECTED, "give every image an id of its own.")
    for number, annotation in enumerate(field(content, "annotations", list, str(path)), start=1):
        where = f"annotation {number} of {path}"
        image, category = id_field(annotation, "image_id", where), id_field(annotation, "category_id", where)
        if image not in words or category not in names:
            stranger = f"image_id {image!r}" if image not in words else f"category_id {category!r}"
            raise TagsError(f"{where} has the {stranger}, which the file does not list.", EXPECTED, "check the file.")
        words[image].add(names[category])
    return words


def _category_names(path: Path, content: Any) -> dict[int | str, str]:
    records = enumerate(field(content, "categories", list, str(path)), start=1)
    named = [(f"category {number} of {path}", record) for number, record in records]
    return {id_field(record, "id", where): field(record, "name", str, where) for where, record in named}
