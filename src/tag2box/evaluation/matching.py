"""Which detections are right: the two rules of the field, for one image and pooled (docs/method.md, section 11).

A pair is one image of one task: an image that several tasks ask about is evaluated once in each.

n = detections, t = true objects
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, Bools
from tag2box.boxes import box_coverage, box_overlaps
from tag2box.types import Detections, Truth

MIN_OVERLAP = 0.5

Pair = tuple[Detections, Truth]


@final
@dataclass(frozen=True, eq=False)
class Matches:
    """Detections of one class, best first, with their verdicts, and the number of objects to be found."""

    scores: Array
    """(n,)"""
    hits: Bools
    """(n,)"""
    ignored: Bools
    """(n,), neither right nor wrong"""
    truths: int


Matcher = Callable[[Detections, Truth, float], Matches]
"""``match_voc`` or ``match_coco``."""


def match_voc(found: Detections, truth: Truth, min_overlap: float = MIN_OVERLAP) -> Matches:
    """PASCAL's rule: a detection goes to the object it overlaps most, and is wrong if that one is taken already.

    Both sides hold one class of one image.
    """
    overlaps = box_overlaps(found.boxes, truth.boxes)  # (n, t)
    hits, ignored = np.zeros(len(found), dtype=bool), np.zeros(len(found), dtype=bool)
    taken: set[int] = set()
    for row in np.flatnonzero((overlaps >= min_overlap).any(axis=1)):
        best = int(overlaps[row].argmax())
        ignored[row] = truth.ignore[best]
        hits[row] = not truth.ignore[best] and best not in taken
        taken.add(best)
    return Matches(found.scores, hits, ignored, int((~truth.ignore).sum()))


def match_coco(found: Detections, truth: Truth, min_overlap: float = MIN_OVERLAP) -> Matches:
    """COCO's rule: a detection goes to the best object that is still free; an ignored one only if no other is left.

    A crowd is never taken, and overlaps a detection by the share of the detection that lies in it. Both sides hold one
    class of one image.
    """
    overlaps = np.where(truth.crowd, box_coverage(found.boxes, truth.boxes), box_overlaps(found.boxes, truth.boxes))
    hits, ignored = np.zeros(len(found), dtype=bool), np.zeros(len(found), dtype=bool)
    free = np.ones(len(truth), dtype=bool)
    for row in np.flatnonzero((overlaps >= min_overlap).any(axis=1)):
        fitting = free & (overlaps[row] >= min_overlap)
        counted = fitting & ~truth.ignore
        candidates = counted if counted.any() else fitting
        if not candidates.any():
            continue
        best = _last_best(np.where(candidates, overlaps[row], -1.0))
        hits[row], ignored[row], free[best] = not truth.ignore[best], truth.ignore[best], truth.crowd[best]
    return Matches(found.scores, hits, ignored, int((~truth.ignore).sum()))


def pooled_matches(pairs: Iterable[Pair], label: str, matcher: Matcher, min_overlap: float = MIN_OVERLAP) -> Matches:
    """Verdicts on all detections of one class, ranked over all images."""
    return pool_matches(
        matcher(detections.of_class(label), truth.of_class(label), min_overlap) for detections, truth in pairs
    )


def pool_matches(parts: Iterable[Matches]) -> Matches:
    """All images of one class, ranked together; equal scores keep the order of the images."""
    images = list(parts)
    if not images:
        return Matches(np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0, dtype=bool), 0)
    scores = np.concatenate([image.scores for image in images])
    order = np.argsort(-scores, kind="stable")
    hits = np.concatenate([image.hits for image in images])[order]
    ignored = np.concatenate([image.ignored for image in images])[order]
    return Matches(scores[order], hits, ignored, sum(image.truths for image in images))


def _last_best(values: Array) -> int:
    """Place of the largest value; the last one of several, as in COCO's own tool."""
    return len(values) - 1 - int(values[::-1].argmax())
