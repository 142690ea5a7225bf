"""Detecting known classes in a photo.

n = regions of a bag, C = classes
"""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path

import numpy as np

from tag2box.arrays import Bools, require_number, sigmoid
from tag2box.boxes import box_coverage, suppress_overlaps
from tag2box.methods.detectors import ranked_classes
from tag2box.product.class_file import ClassSet
from tag2box.product.knowledge import Knowledge
from tag2box.types import Detections, ProposalBag

FOUND = 0.5
"""The score at a class's threshold."""
NESTED = 0.75
"""A box that lies in a surer one of its class by so much, or has it inside, is no thing of its own."""
SAME_BOX = 0.8
"""Boxes that overlap by more are one thing, which has one name."""


def expand_places(places: Sequence[str]) -> list[Path]:
    """Paths, with patterns such as ``*.jpg`` replaced by what they match, for shells that leave that to programs."""
    found: list[Path] = []
    for place in places:
        matches = sorted(glob(place, recursive=True)) if not Path(place).exists() and has_magic(place) else []
        found += [Path(match) for match in matches or [place]]
    return found


def detect_classes(bag: ProposalBag, known: ClassSet, knowledge: Knowledge, min_score: float = FOUND) -> Detections:
    """What of the known classes is in the photo; a score of one half is the class's threshold (14.4)."""
    require_number("min_score", min_score)
    if not known.classes:
        return Detections.joined([])
    scores = knowledge.head(known.labels, known.directions).score(bag)  # (n, C)
    certain = sigmoid(scores - np.array([known.thresholds[label] for label in known.labels]))
    found = ranked_classes(bag, certain, known.labels)
    kept = suppress_overlaps(found.boxes, found.scores, SAME_BOX, len(found))
    shown = Detections(found.boxes[kept], found.scores[kept], found.labels[kept])
    likely = np.flatnonzero((shown.scores >= min_score) & ~_nested(shown))
    return Detections(shown.boxes[likely], shown.scores[likely], shown.labels[likely])


def _nested(found: Detections) -> Bools:
    """(n,), which of those above their threshold are a part of a surer thing of their class, or a group around it."""
    nested = np.zeros(len(found), dtype=bool)
    above = np.flatnonzero(found.scores >= FOUND)
    inside = box_coverage(found.boxes[above], found.boxes[above])
    together = np.maximum(inside, inside.T) >= NESTED  # (m, m)
    for place, row in enumerate(above.tolist()):
        surer = above[:place][~nested[above[:place]]]
        same = found.labels[surer] == found.labels[row]
        nested[row] = bool((same & together[place, np.searchsorted(above, surer)]).any())
    return nested
