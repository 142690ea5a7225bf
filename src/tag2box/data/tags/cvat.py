"""Tags from CVAT's own format, "CVAT for images 1.1": a photo has the labels of its shapes and tags."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from tag2box.data.tags.annotation_files import read_xml
from tag2box.data.tags.mentions import Mention, find_mentioned, inside
from tag2box.data.tags.tag_set import TagSet
from tag2box.data.tags.tag_words import clean_tags
from tag2box.errors import TagsError

EXPECTED = 'an <annotations> with an <image name="…"> for every photo, as "CVAT for images 1.1" has it'


def find_cvat(folder: Path) -> Path | None:
    """The annotations in an unpacked export, if the folder is one."""
    path = folder / "annotations.xml"
    return path if os.path.isfile(path) else None


def read_cvat(path: Path) -> TagSet:
    """The photos of an XML file; they lie beside it, or in ``images`` beside it."""
    root = read_xml(path)
    _require_images(root, path)
    return TagSet.build(path.parent, find_mentioned(_mentions(root, path), path), "CVAT")


def _require_images(root: ET.Element, path: Path) -> None:
    if root.tag == "annotations" and root.find("image") is not None:
        return
    if root.tag == "annotation":
        remedy = "this is the annotation of one photo in VOC's format: give the folder of all of them."
    elif root.find("track") is not None:
        remedy = 'this is a video: export its frames as "CVAT for images 1.1".'
    else:
        remedy = "export the task again."
    raise TagsError(f"{path} begins with <{root.tag}> and has no images of CVAT in it.", EXPECTED, remedy)


def _mentions(root: ET.Element, path: Path) -> Iterator[Mention]:
    for number, image in enumerate(root.findall("image"), start=1):
        where = f"image {number}"
        message = f"{path}, {where}"
        name = image.get("name", "")
        folders = (path.parent, path.parent / "images")
        tags = clean_tags([shape.get("label", "") for shape in image], message)
        yield Mention([inside(folder, name, message) for folder in folders], tags, where)
