"""What an annotation says about a photo of a run, as corrections of the run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tag2box.boxes import Box, Size, clipped_box, has_area
from tag2box.data.formats.label_studio_regions import box_of, is_region, labels_of, region_of
from tag2box.data.formats.parsing import field, size_of
from tag2box.data.tags import clean_name, clean_tags
from tag2box.errors import DoorError
from tag2box.product.corrections import Correction, Known, Shows, ShowsNot

SAME_SHAPE = 0.02
"""By how much the ratio of a photo's sides may differ before it is another photo."""
SAME_BOX = 0.5
"""Pixels by which a box may differ from one that was said before, and be the same."""


def corrections_in(
    annotation: dict[str, Any], photo: str, size: Size, known: Known, labels: Collection[str]
) -> list[Correction]:
    """What is new in an annotation: where things are, and which things of the photo are not there.

    Of several boxes of a thing the largest counts. A thing is not there if the project has its label, the photo its
    tag, and the annotation no region of it; an annotation that was skipped says nothing.
    """
    where = f"the annotation of {photo}"
    if annotation.get("was_cancelled"):
        return []
    drawn = _drawn(annotation, size, where)
    shows = [Shows(photo, label, box) for label, box in drawn.items() if not _is_known(known, photo, label, box)]
    offered = {clean_name(label) for label in labels}
    gone = sorted((known.tags[photo] & offered) - set(drawn))
    return [*shows, *(ShowsNot(photo, label) for label in gone)]


def _drawn(annotation: dict[str, Any], size: Size, where: str) -> dict[str, Box]:
    """Thing → its largest box, inside the photo."""
    largest: dict[str, Box] = {}
    for item in field(annotation, "result", list, where):
        if not is_region(item):
            continue
        region = region_of(item, where)
        if "choices" in region or not labels_of(region, where):
            continue
        _require_same_photo(region, size, where)
        box = clipped_box(box_of(region, size, where), size)
        for label in clean_tags(labels_of(region, where), where):
            if has_area(box) and _area(box) > _area(largest.get(label)):
                largest[label] = box
    return largest


def _area(box: Box | None) -> float:
    return 0.0 if box is None else (box[2] - box[0]) * (box[3] - box[1])


def _is_known(known: Known, photo: str, label: str, box: Box) -> bool:
    pointed = known.regions.get(label, {}).get(photo)
    return pointed is not None and max(abs(a - b) for a, b in zip(pointed.box, box, strict=True)) <= SAME_BOX


def _require_same_photo(region: dict[str, Any], size: Size, where: str) -> None:
    """Refuse boxes of a photo of another shape, which only has the same name."""
    if "original_height" not in region:
        return
    height, width = size_of(region["original_height"], region.get("original_width"), where)
    if abs(width * size[0] / (height * size[1]) - 1.0) > SAME_SHAPE:
        raise DoorError(
            f"{where} is on a photo of {width} x {height} pixels; that of the run has {size[1]} x {size[0]}.",
            "the same photo",
            "rename one of the two, so that they can be told apart.",
        )
