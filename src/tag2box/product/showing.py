"""A photo with what was found in it, as a picture that notebooks show."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from tag2box.boxes import Size
from tag2box.data.formats.coco_results import FOUND
from tag2box.data.labelled import FoundBox
from tag2box.extract import Picture, as_photo, load_photo
from tag2box.extract.photos import Pixels
from tag2box.methods.calibration import SUSPECT
from tag2box.product.taught import Taught
from tag2box.types import Detections
from tag2box.viz import LONGEST, DrawnBox, detected_boxes, picture_with

MOST_BELOW = 5
"""Detections below the threshold that are shown, the surest."""


def show_tagged(taught: Taught, place: int, colours: Mapping[str, str]) -> Image.Image:
    """A tagged photo with the box of each tag, the surest first, and how far to doubt it."""
    found = sorted(taught.boxes[place].values(), key=lambda one: one.doubt)
    boxes = [
        DrawnBox(np.array(one.box, np.float32), _words(one, taught.is_pointed_at(place, one.label)), colours[one.label])
        for one in found
    ]
    size = taught.bags.size(str(place))
    return picture_with(_pixels(taught.album.pictures[place], size), size, boxes)


def show_detected(picture: Picture, size: Size, found: Detections, colours: Mapping[str, str]) -> Image.Image:
    """A new photo with what was detected in it; what is below its threshold is faint."""
    count = int((found.scores >= FOUND).sum())
    above, below = (detected_boxes(some, colours) for some in (found[:count], found[count : count + MOST_BELOW]))
    return picture_with(_pixels(picture, size), size, above, below)


def _words(one: FoundBox, pointed_at: bool) -> str:
    if pointed_at:
        return f"{one.label}, as you said"
    return f"{one.label}{'?' * (one.absence >= SUSPECT)} doubt {one.doubt:.2f}"


def _pixels(picture: Picture, size: Size) -> Pixels:
    longest = min(LONGEST, max(size))
    photo = load_photo(picture, longest) if isinstance(picture, Path) else as_photo(picture, longest)
    return photo.pixels
