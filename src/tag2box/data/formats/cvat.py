"""CVAT's own format, "CVAT for images 1.1": one XML file for all photos."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from tag2box.boxes import Box, box_around, box_around_turned
from tag2box.data.dataset import Dataset, DatasetImage, TrueBox
from tag2box.data.formats.parsing import (
    Mention,
    as_truth,
    box_numbers,
    find_mentioned,
    first_file,
    inside,
    numbers,
    read_xml,
    size_of,
)
from tag2box.data.formats.placing import branch, leaf, link_photo, put_photos, tree_names, write_xml
from tag2box.data.labelled import FoundBox, LabelledPhoto, LabelledPhotos
from tag2box.data.tags import TagSet, clean_name, clean_tags
from tag2box.errors import TagsError

EXPECTED = 'an <annotations> with an <image name="…"> for every photo, as "CVAT for images 1.1" has it'
FILE_NAME = "annotations.xml"
EDGES = ("xtl", "ytl", "xbr", "ybr")


class _Image(NamedTuple):
    """A photo of the file."""

    element: ET.Element
    candidates: tuple[Path, ...]
    where: str


def is_cvat(place: Path) -> bool:
    """Whether a place is an XML file, or the folder of an unpacked export."""
    return place.suffix.lower() == ".xml" if os.path.isfile(place) else os.path.isfile(place / FILE_NAME)


def read_cvat_tags(place: Path) -> TagSet:
    """The photos of a file with the labels of their shapes and tags."""
    path = _file(place)
    mentions = (Mention(image.candidates, _tags_of(image, path), image.where) for image in _images(path, _root(path)))
    return TagSet.build(path.parent, find_mentioned(mentions, path), "CVAT")


@as_truth()
def read_cvat(place: Path) -> Dataset:
    """The photos of a file with their boxes; of a polygon, the box around it. Tags of whole photos have no box."""
    path = _file(place)
    root = _root(path)
    images = tuple(_true_image(image, path) for image in _images(path, root))
    listed = (clean_name(label.text or "") for label in root.findall("meta//labels/label/name"))
    shown = sorted({label for image in images for label in image.truth.labels.tolist()})
    return Dataset(tuple(dict.fromkeys([*listed, *shown])), images)


def _file(place: Path) -> Path:
    return place / FILE_NAME if os.path.isdir(place) else place


def _root(path: Path) -> ET.Element:
    root = read_xml(path)
    if root.tag == "annotations" and root.find("image") is not None:
        return root
    if root.tag == "annotation":
        remedy = "this is the annotation of one photo in VOC's format: give the folder of all of them."
    elif root.find("track") is not None:
        remedy = 'this is a video: export its frames as "CVAT for images 1.1".'
    else:
        remedy = "export the task again."
    raise TagsError(f"{path} begins with <{root.tag}> and has no images of CVAT in it.", EXPECTED, remedy)


def _images(path: Path, root: ET.Element) -> Iterator[_Image]:
    """The photos of a file; they lie beside it, or in ``images`` beside it."""
    for number, element in enumerate(root.findall("image"), start=1):
        where, folders = f"image {number}", (path.parent, path.parent / "images")
        candidates = tuple(inside(folder, element.get("name", ""), f"{path}, {where}") for folder in folders)
        yield _Image(element, candidates, where)


def _tags_of(image: _Image, path: Path) -> frozenset[str]:
    return clean_tags([shape.get("label", "") for shape in image.element], f"{path}, {image.where}")


def _true_image(image: _Image, path: Path) -> DatasetImage:
    where = f"{path}, {image.where},"
    size = size_of(image.element.get("height"), image.element.get("width"), where)
    shapes = [shape for shape in image.element if shape.tag != "tag"]
    boxes = [TrueBox(clean_name(shape.get("label", "")), _box_of(shape, where)) for shape in shapes]
    found = first_file(image.candidates) or image.candidates[0]
    return DatasetImage.build(found, image.element.get("name", ""), size, boxes)


def _box_of(shape: ET.Element, where: str) -> Box:
    if shape.tag == "polygon":
        points = [point.split(",") for point in shape.get("points", "").split(";")]
        flat = numbers((value for point in points for value in point), where)
        if len(flat) == 2 * len(points):
            return box_around(zip(flat[::2], flat[1::2], strict=True))
    elif shape.tag == "box":
        x0, y0, x1, y1 = box_numbers([shape.get(edge) for edge in EDGES], where)
        (degrees,) = numbers([shape.get("rotation", "0")], where)
        return box_around_turned((x0, y0, x1, y1), degrees, ((x0 + x1) / 2, (y0 + y1) / 2))
    raise TagsError(f"{where} has a <{shape.tag}> that is no box.", "boxes and polygons", "export boxes.")


def write_cvat(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``annotations.xml`` and ``images/``; file names begin in ``images``, and boxes are a machine's."""
    photos = put_photos(labelled, folder / "images", tree_names, link_photo)
    labels = (branch("label", leaf("name", label), leaf("type", "rectangle")) for label in labelled.classes)
    task = branch(
        "task",
        leaf("name", "tag2box"),
        leaf("size", len(photos)),
        leaf("mode", "annotation"),
        branch("labels", *labels),
    )
    images = (_image_element(number, photo) for number, photo in enumerate(photos))
    write_xml(folder / FILE_NAME, branch("annotations", leaf("version", "1.1"), branch("meta", task), *images))


def _image_element(number: int, photo: LabelledPhoto) -> ET.Element:
    boxes = (_box_element(found) for found in photo.boxes)
    size = {"width": str(photo.width), "height": str(photo.height)}
    return branch("image", *boxes, id=str(number), name=photo.name, **size)


def _box_element(found: FoundBox) -> ET.Element:
    edges = {name: f"{edge:.2f}" for name, edge in zip(EDGES, found.box, strict=True)}
    return branch("box", label=found.label, source="auto", occluded="0", **edges, z_order="0")
