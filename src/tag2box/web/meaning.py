"""What a word of the page means for the run: a correction, or nothing if it was said already."""

from __future__ import annotations

from tag2box.boxes import Box
from tag2box.data.labelled import FoundBox
from tag2box.errors import RunError
from tag2box.product.corrections import Correction, Shows, ShowsNot, Tag
from tag2box.product.finding import Found
from tag2box.product.places import pointed_at
from tag2box.product.run import Run
from tag2box.web.bodies import Word

LEAST_SIDE = 2.0
"""Pixels of a box that is drawn."""


def correction_of(word: Word, photo: str, run: Run) -> Correction | None:
    """What a person says of a photo; None if that is so already."""
    if word.kind == "shows not":
        return ShowsNot(photo, word.label)
    if word.kind == "tag":
        return Tag(photo, word.label)
    if photo not in run.sizes():
        raise RunError("nobody has looked at that photo yet.", "a photo with regions", "press Find first.")
    if word.kind == "accept":
        return _accepted(run, photo, word.label)
    if word.point is not None:
        found = run.found.box(photo, word.label) if run.found is not None else None
        return pointed_at(run.places(photo, word.label), photo, word.label, word.point, found)
    return _drawn(run, photo, word.label, word.box or (0.0, 0.0, 0.0, 0.0), word.row)


def as_found(run: Run, photo: str, box: FoundBox) -> Shows:
    """That a box is right which was found."""
    return Shows(photo, box.label, box.box, run.row_at(photo, box.box), accepted=True)


def found_in(run: Run) -> Found:
    """What was found, at the latest now."""
    if run.found is None:
        raise RunError("nothing was found yet.", "boxes", "press Find first.")
    return run.found


def _accepted(run: Run, photo: str, label: str) -> Shows | None:
    """The same; None if a person has said where the thing is."""
    if photo in run.known().regions.get(label, {}):
        return None
    box = found_in(run).box(photo, label)
    if box is None:
        raise RunError(f"no {label!r} was found there.", "a box", "draw one.")
    return as_found(run, photo, box)


def _drawn(run: Run, photo: str, label: str, box: Box, row: int | None) -> Shows:
    """That a thing is in a box, which may be that of a region."""
    if min(box[2] - box[0], box[3] - box[1]) < LEAST_SIDE:
        raise RunError("that box is too small.", f"sides of {LEAST_SIDE:.0f} pixels or more", "draw a larger one.")
    return Shows(photo, label, box, row if row is not None else run.row_at(photo, box))
