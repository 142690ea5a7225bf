"""Which boxes are elsewhere after a person has spoken of others."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from tag2box.boxes import Box, paired_overlaps
from tag2box.product.album import PhotoName
from tag2box.product.finding import Found, Place

STAYS = 0.9
"""A box that overlaps its former self by less has moved."""


class MovedBox(NamedTuple):
    """A box that is elsewhere."""

    photo: PhotoName
    label: str
    before: Box | None
    """None if there was no box"""
    after: Box | None
    """None if there is no box any more"""
    overlap: float
    """Intersection over union of the two; 0 if one is missing"""


def moves(before: Found | None, after: Found, spoken_of: Collection[Place]) -> list[MovedBox]:
    """What is elsewhere, has come or has gone, by photos and labels, but for what was spoken of."""
    old, new = _by_place(before), _by_place(after)
    photos = {photo: number for number, photo in enumerate(after.tags)}
    places = sorted({*old, *new} - set(spoken_of), key=lambda place: (photos.get(place[0], len(photos)), place))
    both = [place for place in places if place in old and place in new]
    first, second = (
        np.array([boxes[place] for place in both], dtype=np.float64).reshape(-1, 4) for boxes in (old, new)
    )
    overlaps = dict(zip(both, paired_overlaps(first, second).tolist(), strict=True))
    moved = [MovedBox(*place, old.get(place), new.get(place), overlaps.get(place, 0.0)) for place in places]
    return [one for one in moved if one.overlap < STAYS]


def _by_place(found: Found | None) -> dict[Place, Box]:
    return {each.place: each.box.box for each in found.by_doubt()} if found is not None else {}
