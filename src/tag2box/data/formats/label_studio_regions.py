"""Regions and predictions of Label Studio, as its exports, its server and its calls have them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import unquote

from tag2box.boxes import Box, Size, box_around, box_around_turned, box_from_percent, percent_of_box
from tag2box.data.formats.parsing import box_numbers, field, kind_of, numbers
from tag2box.data.labelled import FoundBox, LabelledPhoto
from tag2box.errors import TagsError

EXPECTED = "a list of tasks, as Label Studio exports it as JSON or JSON-MIN"
UPLOAD = re.compile(r"/?data/upload/(?:\d+/)?(?:[0-9a-f]{8}-)?")
LOCAL_FILE = "/data/local-files/?d="
SIDES = ("x", "y", "width", "height")


class Controls(NamedTuple):
    """What the labeling interface of a project calls its rectangles and its photo."""

    from_name: str = "label"
    to_name: str = "image"


def is_region(item: Any) -> bool:
    """Whether a result has something to say by itself: relations between regions have no value."""
    return not (isinstance(item, dict) and item.get("type") == "relation")


def region_of(item: Any, where: str) -> dict[str, Any]:
    """A result as JSON-MIN has it: what is in its value, and the size of the photo."""
    value = field(item, "value", dict, f"a result of {where}")
    return {key: item[key] for key in ("original_height", "original_width") if key in item} | value


def labels_of(region: Any, where: str) -> list[str]:
    """The tags in the fields of a region that hold labels, such as ``rectanglelabels``."""
    if not isinstance(region, dict):
        raise TagsError(f"{where} has {kind_of(region)} as a label.", EXPECTED, "export the project again.")
    lists = [field(region, key, list, where) for key in region if key.endswith("labels") or key == "choices"]
    labels = [label for labels in lists for label in labels]
    wrong = [label for label in labels if not isinstance(label, str)]
    if wrong:
        raise TagsError(f"{where} has {kind_of(wrong[0])} as a label.", "labels as texts", "export the project again.")
    return labels


def box_of(region: dict[str, Any], size: Size, where: str) -> Box:
    """The box of a rectangle, or the one around a polygon, in a photo of this size."""
    points = region.get("points")
    if isinstance(points, list) and points:
        corners = [numbers(point if isinstance(point, list) else [None], where) for point in points]
        pixels = [box_from_percent(point[0], point[-1], 0.0, 0.0, size) for point in corners if point]
        return box_around((x, y) for x, y, _, _ in pixels)
    if not all(side in region for side in SIDES):
        raise TagsError(f"{where} has a region that is no box.", "rectangles and polygons", "export rectangles.")
    box = box_from_percent(*box_numbers([region[side] for side in SIDES], where), size)
    (degrees,) = numbers([region.get("rotation", 0)], where)
    return box_around_turned(box, degrees, (box[0], box[1]))


def photo_names(reference: str) -> list[str]:
    """What the file of a photo may be called, likeliest first; Label Studio puts eight digits before uploads."""
    if reference.startswith(LOCAL_FILE):
        parts = unquote(reference.removeprefix(LOCAL_FILE)).strip("/").split("/")
        return ["/".join(parts[start:]) for start in range(len(parts))]
    upload = UPLOAD.match(reference)
    if upload:
        names = [reference.rsplit("/", 1)[1], reference[upload.end() :]]
        return list(dict.fromkeys(form for name in names for form in (name, unquote(name))))
    return list(dict.fromkeys([reference, unquote(reference)]))


def prediction_of(photo: LabelledPhoto, controls: Controls, version: str) -> dict[str, Any] | None:
    """The boxes of a photo for a person to accept, if it has any; the score is that of the most doubtful one."""
    regions = [_region_entry(f"box-{number}", found, photo, controls) for number, found in enumerate(photo.boxes, 1)]
    if not regions:
        return None
    return {"model_version": version, "score": min(region["score"] for region in regions), "result": regions}


def _region_entry(identity: str, found: FoundBox, photo: LabelledPhoto, controls: Controls) -> dict[str, Any]:
    """A box in percent of the photo; its score is the probability that it is right."""
    place = {name: round(side, 4) for name, side in zip(SIDES, percent_of_box(found.box, photo.size), strict=True)}
    return {
        "id": identity,
        "from_name": controls.from_name,
        "to_name": controls.to_name,
        "type": "rectanglelabels",
        "original_width": photo.width,
        "original_height": photo.height,
        "image_rotation": 0,
        "score": round(found.confidence, 4),
        "value": {**place, "rotation": 0, "rectanglelabels": [found.label]},
    }
