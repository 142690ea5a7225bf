"""COCO annotation files: the full datasets of 2014 and 2017, small ones in the same format, and the boxes of a run.

``boxes.json`` of a run is such a file. Its annotations also have a ``score``, a ``doubt`` and an ``absence``, and its
images the ``tags`` that a person gave them.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tag2box.boxes import box_from_sides, sides_of_box
from tag2box.data.dataset import Dataset, DatasetImage, TrueBox
from tag2box.data.formats.parsing import (
    Mention,
    as_truth,
    box_numbers,
    field,
    find_mentioned,
    id_field,
    inside,
    read_json,
    size_of,
)
from tag2box.data.formats.placing import link_photo, put_photos, tree_names
from tag2box.data.labelled import UNJUDGED, FoundBox, LabelledPhoto, LabelledPhotos
from tag2box.data.tags import TagSet, clean_name, clean_tags
from tag2box.errors import RunError, TagsError, reason_of
from tag2box.files import write_json

BOXES_NAME = "boxes.json"
EXPECTED = "images, annotations and categories whose ids belong together"
LICENSES = [{"id": 1, "name": "unknown", "url": ""}]
"""Some tools refuse a COCO file without any."""

Id = int | str


class CocoFile(NamedTuple):
    """What an annotation file says, checked as far as its ids go."""

    path: Path
    images: Sequence[dict[str, Any]]
    categories: Mapping[Id, str]
    annotations: Mapping[Id, Sequence[dict[str, Any]]]
    """Image id → its annotations"""


def is_coco(place: Path) -> bool:
    """Whether a place is a file in JSON; which of the formats it is, the others say first."""
    return place.suffix.lower() == ".json"


def load_coco(path: Path) -> CocoFile:
    """Read an annotation file; whatever does not belong together in it is refused at its place."""
    content = read_json(path)
    images = field(content, "images", list, str(path))
    named = enumerate(field(content, "categories", list, str(path)), 1)
    records = [(f"category {number} of {path}", record) for number, record in named]
    names = {id_field(record, "id", where): field(record, "name", str, where) for where, record in records}
    known = {id_field(image, "id", f"image {number} of {path}") for number, image in enumerate(images, 1)}
    if len(known) < len(images):
        raise TagsError(f"{path} gives two images the same id.", EXPECTED, "give every image an id of its own.")
    annotations: dict[Id, list[dict[str, Any]]] = defaultdict(list)
    for number, annotation in enumerate(field(content, "annotations", list, str(path)), 1):
        where = f"annotation {number} of {path}"
        image, category = id_field(annotation, "image_id", where), id_field(annotation, "category_id", where)
        if image not in known or category not in names:
            stranger = f"image_id {image!r}" if image not in known else f"category_id {category!r}"
            raise TagsError(f"{where} has the {stranger}, which the file does not list.", EXPECTED, "check the file.")
        annotations[image].append(annotation)
    return CocoFile(path, images, names, annotations)


def photo_folder(path: Path, images: Sequence[dict[str, Any]]) -> Path:
    """Where the first photo of an annotation file is found; beside the file if it is nowhere.

    COCO itself puts the photos of ``annotations/instances_val2017.json`` into ``val2017`` or ``images/val2017``.
    """
    split, around = path.stem.removeprefix("instances_"), path.parent.parent
    folders = [path.parent, around / split, around / "images" / split, path.parent / "images", around / "images"]
    folders.append(path.parent / "data")  # FiftyOne
    first = str(images[0].get("file_name")) if images else ""
    return next((folder for folder in folders if os.path.isfile(folder / first)), path.parent)


def read_coco_tags(path: Path) -> TagSet:
    """The photos of a COCO file with the categories of their annotations; those without annotations have no tag.

    An object counts however hard it is to see: a crowd and a difficult object are in the photo all the same.
    """
    file = load_coco(path)
    folder = photo_folder(path, file.images)
    return TagSet.build(folder, find_mentioned(mentions_in(file, folder), path), "COCO")


def mentions_in(file: CocoFile, folder: Path) -> Iterator[Mention]:
    """The photos that a file speaks of, which lie in ``folder``."""
    for number, image in enumerate(file.images, start=1):
        where = f"image {number}"
        name = field(image, "file_name", str, f"{where} of {file.path}")
        words = {file.categories[annotation["category_id"]] for annotation in file.annotations.get(image["id"], ())}
        tags = clean_tags(words, f"{file.path}, {where}")
        yield Mention([inside(folder, name, f"{file.path}, {where}")], tags, where)


@as_truth()
def read_coco(path: Path, images: Path | None = None) -> Dataset:
    """The images of a COCO file with their true boxes.

    Image files lie in ``images``, by default in ``photo_folder``; nothing is amiss if they are not there. Crowds are
    ignored as COCO does, and so are boxes that an annotation calls ``difficult``.
    """
    file = load_coco(path)
    folder = images if images is not None else photo_folder(path, file.images)
    names = {number: clean_name(name) for number, name in file.categories.items()}
    read = (_image(file, folder, names, image, number) for number, image in enumerate(file.images, start=1))
    return Dataset(tuple(dict.fromkeys(names.values())), tuple(read))


def _image(file: CocoFile, folder: Path, names: Mapping[Id, str], image: dict[str, Any], number: int) -> DatasetImage:
    where = f"image {number} of {file.path}"
    size = size_of(image.get("height"), image.get("width"), where)
    boxes = [
        TrueBox(
            names[annotation["category_id"]],
            box_from_sides(*box_numbers(annotation.get("bbox"), f"an annotation of {where}")),
            bool(annotation.get("difficult", 0)),
            bool(annotation.get("iscrowd", 0)),
        )
        for annotation in file.annotations.get(image["id"], ())
    ]
    name = field(image, "file_name", str, where)
    return DatasetImage.build(folder / name, str(image["id"]), size, boxes)


def write_coco(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``annotations.json`` and ``images/``; file names begin beside the annotations."""
    photos = put_photos(labelled, folder / "images", tree_names, link_photo)
    named = tuple(replace(photo, name=f"images/{photo.name}") for photo in photos)
    write_boxes(folder / "annotations.json", LabelledPhotos(Path(), labelled.classes, named), {})


def write_boxes(path: Path, labelled: LabelledPhotos, about: dict[str, Any]) -> None:
    """Write the boxes of a run as a COCO file; ``about`` goes into its ``info``."""
    write_json(path, coco_content(labelled, about))


def coco_content(labelled: LabelledPhotos, about: dict[str, Any], family: str = "") -> dict[str, Any]:
    """What a COCO file of the boxes says; ``family`` is the supercategory of all categories."""
    numbers = {label: number for number, label in enumerate(labelled.classes, 1)}
    found = [(image, each) for image, photo in enumerate(labelled.photos, 1) for each in photo.boxes]
    return {
        "info": {"description": "boxes that tag2box found", "photos": str(labelled.folder), **about},
        "licenses": LICENSES,
        "images": [_image_entry(number, photo) for number, photo in enumerate(labelled.photos, 1)],
        "categories": [{"id": number, "name": label, "supercategory": family} for label, number in numbers.items()],
        "annotations": [
            {"id": place, "image_id": image, "category_id": numbers[each.label], **_box_entry(each)}
            for place, (image, each) in enumerate(found, 1)
        ],
    }


def _image_entry(number: int, photo: LabelledPhoto) -> dict[str, Any]:
    entry = {"id": number, "file_name": photo.name, "width": photo.width, "height": photo.height}
    return entry if photo.tags is None else entry | {"tags": list(photo.tags)}


def _box_entry(found: FoundBox) -> dict[str, Any]:
    x0, y0, x1, y1 = (round(edge, 2) for edge in found.box)
    x, y, width, height = sides_of_box((x0, y0, x1, y1))
    entry = {
        "bbox": [x, y, round(width, 2), round(height, 2)],
        "area": round(width * height, 2),
        "iscrowd": 0,
        "score": round(found.score, 4),
    }
    return entry | {"doubt": round(found.doubt, 4), "absence": round(found.absence, 4)} if found.is_judged else entry


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
        box = box_from_sides(*box_numbers(entry["bbox"], "an annotation"))
        sure = (float(entry["score"]), float(entry.get("doubt", UNJUDGED)), float(entry.get("absence", 0.0)))
        found[entry["image_id"]].append(FoundBox(names[entry["category_id"]], box, *sure))
    photos = tuple(
        LabelledPhoto(
            str(entry["file_name"]), int(entry["height"]), int(entry["width"]), tuple(found[entry["id"]]), _tags(entry)
        )
        for entry in content["images"]
    )
    return LabelledPhotos(Path(content["info"]["photos"]), tuple(names.values()), photos)


def _tags(entry: dict[str, Any]) -> tuple[str, ...] | None:
    """What a person said of a photo; None in files of runs that did not write it down."""
    return tuple(str(tag) for tag in entry["tags"]) if "tags" in entry else None
