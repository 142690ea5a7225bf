"""Where else a thing may be in a photo: what a person is offered, and what a click means (docs/method.md, section 6).

n = regions of a photo
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from tag2box.arrays import Array, Bools, Ints
from tag2box.boxes import Box, Boxes, box_overlaps, suppress_overlaps
from tag2box.data.labelled import FoundBox
from tag2box.errors import RunError
from tag2box.methods.floors import objectness_odds
from tag2box.model import Model
from tag2box.product.corrections import Shows
from tag2box.product.learning import LearnedClass
from tag2box.types import WHOLE_IMAGE, ProposalBag

LIKENESS_COUNTS = 0.5
"""How much of the foreground's logit counts against the log odds of an object: EM was wrong there, or nobody asks."""
MOST_OFFERED = 9
"""As many as there are digits on a keyboard."""
TOO_ALIKE = 0.5
"""Places that overlap by more are one offer."""
SAME, SAME_CLICKED = 0.95, 0.7
"""Regions that overlap what is there already by more are no other place; nor, by less, are they what a click means."""
ASIDE = 64.0
"""How much a click that is aside speaks against a region: times the squared share of a side from its middle."""

Point = tuple[float, float]
"""x and y, in pixels of a photo."""


@final
@dataclass(frozen=True, eq=False)
class Places:
    """Regions of a photo, and how likely a thing is in each of them, whatever EM has settled for."""

    boxes: Boxes
    """(n, 4)"""
    scores: Array
    """(n,)"""

    @classmethod
    def of(cls, bag: ProposalBag, one: LearnedClass | None, model: Model) -> Self:
        """By likeness to what was learned and by objectness (6.9), or by objectness alone."""
        odds = objectness_odds(bag)
        if one is None:
            return cls(bag.boxes, odds)
        localizer = model.learner.localizer
        (theta,) = localizer.from_centered(one.direction[None])
        cosines = localizer.seen(bag).directions.along(theta)  # (n,)
        return cls(bag.boxes, LIKENESS_COUNTS * one.kappa * cosines + odds)

    def offered(self, here: Box | None) -> Ints:
        """Rows of other places than ``here``, the likeliest first, no two alike."""
        rows = np.flatnonzero(self._beside(here, SAME))
        return rows[suppress_overlaps(self.boxes[rows], self.scores[rows], TOO_ALIKE, MOST_OFFERED)]

    def around(self, point: Point, here: Box | None) -> int | None:
        """The row of the region that a click means, never the whole photo; None if there is no other around it."""
        x0, y0, x1, y1 = self.boxes.astype(np.float64).T
        (x, y), width, height = point, np.maximum(x1 - x0, 1e-9), np.maximum(y1 - y0, 1e-9)
        aside = np.maximum(np.abs((x0 + x1) / 2 - x) / width, np.abs((y0 + y1) / 2 - y) / height)  # (n,), ½ at edges
        meant = (aside <= 0.5) & self._beside(here, SAME_CLICKED)
        meant[WHOLE_IMAGE] = False
        return int(np.where(meant, self.scores - ASIDE * aside**2, -np.inf).argmax()) if meant.any() else None

    def _beside(self, here: Box | None, same: float) -> Bools:
        """(n,) whether a region is another place."""
        if here is None:
            return np.ones(len(self.boxes), dtype=np.bool_)
        return box_overlaps(self.boxes, np.array([here], dtype=np.float32))[:, 0] <= same


def pointed_at(places: Places, photo: str, label: str, point: Point, found: FoundBox | None) -> Shows:
    """That a thing is around a point of a photo, and not where it was found."""
    row = places.around(point, found.box if found is not None else None)
    if row is None:
        raise RunError("nothing else is around that point.", "a point inside the photo", "draw a box instead.")
    x0, y0, x1, y1 = map(float, places.boxes[row])
    return Shows(photo, label, (x0, y0, x1, y1), row)
