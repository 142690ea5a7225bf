"""Photos with the boxes that were found in them: what a run writes, and what exports and judgements read."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import final

from tag2box.boxes import Box, Size

UNJUDGED = nan
"""The doubt in a box that nobody has judged."""


@final
@dataclass(frozen=True)
class FoundBox:
    """One thing in a photo."""

    label: str
    box: Box
    """x0 y0 x1 y1 in pixels of the upright photo, upper edge exclusive"""
    score: float
    """How much of the photo's weight is on it, between 0 and 1; of a detection, its score"""
    doubt: float = UNJUDGED
    """Probability that it is wrong, between 0 and 1; NaN for a detection, whose score is no probability"""
    absence: float = 0.0
    """Probability that the thing is not in the photo at all, between 0 and 1"""

    @property
    def is_judged(self) -> bool:
        """Whether there is a probability that it is wrong."""
        return not isnan(self.doubt)

    @property
    def confidence(self) -> float:
        """How sure it is, for tools that want one number: the probability of being right, or the score."""
        return 1.0 - self.doubt if self.is_judged else self.score


@final
@dataclass(frozen=True)
class LabelledPhoto:
    """A photo with its boxes."""

    name: str
    """Path from the folder of photos, with forward slashes"""
    height: int
    width: int
    boxes: tuple[FoundBox, ...]
    tags: tuple[str, ...] | None = None
    """What a person says is in it, whether it was found or not; none at all for a photo that shows none of the things,
    and None where nobody has written it down"""

    @property
    def size(self) -> Size:
        """Height and width."""
        return (self.height, self.width)

    @property
    def shows_something(self) -> bool:
        """Whether one of the things is known to be in the photo."""
        return bool(self.tags or self.boxes)


@final
@dataclass(frozen=True)
class LabelledPhotos:
    """A folder of photos with their boxes."""

    folder: Path
    """Where the names of the photos begin"""
    classes: tuple[str, ...]
    photos: tuple[LabelledPhoto, ...]
