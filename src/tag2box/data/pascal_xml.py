"""Annotations in PASCAL's XML, which VOC and ILSVRC share.

t = objects
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from tag2box.data.dataset import DatasetImage
from tag2box.errors import DatasetError
from tag2box.types import Truth

EDGES = ("xmin", "ymin", "xmax", "ymax")


def read_pascal_xml(
    path: Path, image_path: Path, image_id: str, *, first_pixel: int, names: Mapping[str, str] | None = None
) -> DatasetImage:
    """One annotation file; ``first_pixel`` is the number of the first pixel, and ``names`` renames classes.

    The files count both edges of a box as inside, so the lower edge moves by ``first_pixel`` and the upper one by
    ``first_pixel - 1``.
    """
    try:
        root = ET.parse(path).getroot()  # noqa: S314 (expat limits entity expansion itself)
        size = [int(_text(root, f"size/{side}")) for side in ("height", "width")]
        objects = root.findall("object")
        boxes = [[float(_text(thing, f"bndbox/{edge}")) for edge in EDGES] for thing in objects]
        labels = [_text(thing, "name") for thing in objects]
        ignore = [(thing.findtext("difficult") or "0").strip() == "1" for thing in objects]
    except (OSError, ValueError, ET.ParseError) as error:
        raise DatasetError(
            f"{path} cannot be read: {error}.", "an annotation in PASCAL's XML", "check the file, or fetch it again."
        ) from error
    edges = np.array(boxes, dtype=np.float64).reshape(-1, 4) - first_pixel
    edges[:, 2:] += 1.0
    edges = np.clip(edges, 0.0, [size[1], size[0], size[1], size[0]])
    renamed = np.array([(names or {}).get(label, label) for label in labels], dtype=np.str_)
    crowd = np.zeros(len(labels), dtype=bool)
    truth = Truth(image_id, edges.astype(np.float32), renamed, np.array(ignore, dtype=bool), crowd)
    return DatasetImage(image_path, size[0], size[1], truth)


def read_lines(path: Path, what: str) -> list[str]:
    """The lines of an image list that are not empty."""
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"{path} cannot be read: {error}.", what, "check the folder and the name of the split."
        ) from error


def _text(element: ET.Element, name: str) -> str:
    text = element.findtext(name)
    if text is None:
        raise ValueError(f"it has no {name}")
    return text.strip()
