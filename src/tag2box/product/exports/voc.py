"""PASCAL VOC: an XML file beside every photo; pixels count from 1 and the last one belongs to the box."""

from __future__ import annotations

from math import ceil, floor
from pathlib import Path
from xml.etree.ElementTree import Element

from tag2box.product.exports.names import flat_names
from tag2box.product.exports.photos import link_photo, put_photos
from tag2box.product.exports.xml_trees import branch, leaf, write_xml
from tag2box.product.labelled import FoundBox, LabelledPhoto, LabelledPhotos

LABEL_MAP = "# label:color_rgb:parts:actions\nbackground:::\n"


def write_voc(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``Annotations/``, ``JPEGImages/``, ``ImageSets/Main/trainval.txt`` and ``labelmap.txt``.

    One list and no second one, because CVAT takes every list for a subset; without the label map it knows no classes
    but the twenty of VOC.
    """
    photos = put_photos(labelled, folder / "JPEGImages", flat_names, link_photo)
    for name in ("Annotations", "ImageSets/Main"):
        (folder / name).mkdir(parents=True)
    for photo in photos:
        write_xml((folder / "Annotations" / photo.name).with_suffix(".xml"), _annotation(photo))
    stems = "".join(f"{Path(photo.name).stem}\n" for photo in photos)
    (folder / "ImageSets" / "Main" / "trainval.txt").write_text(stems, encoding="utf-8")
    labels = "".join(f"{label}:::\n" for label in labelled.classes)
    (folder / "labelmap.txt").write_text(LABEL_MAP + labels, encoding="utf-8")


def _annotation(photo: LabelledPhoto) -> Element:
    sizes = [leaf("width", photo.width), leaf("height", photo.height), leaf("depth", 3)]
    return branch(
        "annotation",
        leaf("folder", "JPEGImages"),
        leaf("filename", photo.name),
        branch("source", leaf("database", "tag2box")),
        branch("size", *sizes),
        leaf("segmented", 0),
        *(_thing(found) for found in photo.boxes),
    )


def _thing(found: FoundBox) -> Element:
    x0, y0, x1, y1 = found.box
    edges = {"xmin": floor(x0) + 1, "ymin": floor(y0) + 1, "xmax": ceil(x1), "ymax": ceil(y1)}
    return branch(
        "object",
        leaf("name", found.label),
        leaf("pose", "Unspecified"),
        leaf("truncated", 0),
        leaf("difficult", 0),
        branch("bndbox", *(leaf(name, edge) for name, edge in edges.items())),
    )
