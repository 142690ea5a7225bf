"""CVAT for images 1.1: one XML file; the boxes are marked as made by a machine."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

from tag2box.product.exports.names import tree_names
from tag2box.product.exports.photos import link_photo, put_photos
from tag2box.product.exports.xml_trees import branch, leaf, write_xml
from tag2box.product.labelled import FoundBox, LabelledPhoto, LabelledPhotos


def write_cvat(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``annotations.xml`` and ``images/``; file names begin in ``images``, as CVAT has them."""
    photos = put_photos(labelled, folder / "images", tree_names, link_photo)
    labels = (branch("label", leaf("name", label), leaf("type", "rectangle")) for label in labelled.classes)
    task = branch(
        "task",
        leaf("name", "tag2box"),
        leaf("size", len(photos)),
        leaf("mode", "annotation"),
        branch("labels", *labels),
    )
    images = (_image(number, photo) for number, photo in enumerate(photos))
    write_xml(folder / "annotations.xml", branch("annotations", leaf("version", "1.1"), branch("meta", task), *images))


def _image(number: int, photo: LabelledPhoto) -> Element:
    boxes = (_box(found) for found in photo.boxes)
    size = {"width": str(photo.width), "height": str(photo.height)}
    return branch("image", *boxes, id=str(number), name=photo.name, **size)


def _box(found: FoundBox) -> Element:
    corners = zip(("xtl", "ytl", "xbr", "ybr"), found.box, strict=True)
    edges = {name: f"{edge:.2f}" for name, edge in corners}
    return branch("box", label=found.label, source="auto", occluded="0", **edges, z_order="0")
