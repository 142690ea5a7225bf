"""COCO as others lay it out: Roboflow and RF-DETR, with a file for each part of a split, and FiftyOne."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from tag2box.data.dataset import Dataset, DatasetImage
from tag2box.data.formats.coco import coco_content, load_coco, mentions_in, read_coco, write_boxes
from tag2box.data.formats.parsing import find_mentioned
from tag2box.data.formats.placing import flat_names, link_photo, put_photos, tree_names
from tag2box.data.formats.splitting import SHARES, split_photos
from tag2box.data.labelled import LabelledPhotos
from tag2box.data.tags import TagSet
from tag2box.files import write_json

ANNOTATIONS = "_annotations.coco.json"
NO_FAMILY = "none"
"""What Roboflow writes; RF-DETR drops a category without boxes that another one names as its supercategory."""


def is_roboflow(place: Path) -> bool:
    """Whether a place is a folder with an annotation file in one of the folders of a split."""
    return bool(_annotation_files(place))


def read_roboflow_tags(place: Path) -> TagSet:
    """The photos of all parts, with the categories of their annotations."""
    tags: dict[Path, frozenset[str]] = {}
    for path in _annotation_files(place):
        tags |= find_mentioned(mentions_in(load_coco(path), path.parent), path)
    return TagSet.build(place, tags, "Roboflow COCO")


def read_roboflow(place: Path) -> Dataset:
    """The images of all parts with their true boxes."""
    parts = [(path.parent, read_coco(path, path.parent)) for path in _annotation_files(place)]
    classes = dict.fromkeys(label for _, part in parts for label in part.classes)
    return Dataset(tuple(classes), tuple(_of_part(folder, image) for folder, part in parts for image in part.images))


def _annotation_files(place: Path) -> list[Path]:
    files = (place / part / ANNOTATIONS for part in SHARES)
    return [path for path in files if os.path.isfile(path)]


def _of_part(folder: Path, image: DatasetImage) -> DatasetImage:
    """The image by an id that no image of another part has."""
    return replace(image, truth=replace(image.truth, image_id=f"{folder.name}/{image.image_id}"))


def write_roboflow(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``train/``, ``valid/`` and ``test/``, each with its photos and a COCO file of the same categories."""
    names = [photo.name for photo in labelled.photos]
    flat = dict(zip(names, flat_names(names), strict=True))
    for part, photos in split_photos(labelled.photos).items():
        chosen = replace(labelled, photos=tuple(photos))
        put = put_photos(chosen, folder / part, lambda some: [flat[name] for name in some], link_photo)
        content = coco_content(LabelledPhotos(Path(), labelled.classes, put), {}, NO_FAMILY)
        write_json(folder / part / ANNOTATIONS, content)


def write_fiftyone(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``data/`` and ``labels.json``, whose file names begin in ``data``."""
    photos = put_photos(labelled, folder / "data", tree_names, link_photo)
    untagged = tuple(replace(photo, tags=None) for photo in photos)
    write_boxes(folder / "labels.json", LabelledPhotos(Path(), labelled.classes, untagged), {})
