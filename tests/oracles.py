"""Slow and certain versions: 50 digits, or straight from the definition."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import mpmath as mp
import numpy as np

from tag2box.arrays import Array
from tag2box.boxes import box_coverage, box_overlaps
from tag2box.evaluation import Matches, Pair, pool_matches
from tag2box.evaluation.matching import MIN_OVERLAP
from tag2box.types import Detections, Truth

DIMENSIONS = [2, 3, 16, 64, 128, 512, 640, 1536, 4096]
"""The grid on which vMF numerics are promised."""


@cache
def exact_bessel(order: float, kappa: float) -> mp.mpf:
    with mp.workdps(50):
        return mp.besseli(mp.mpf(order), mp.mpf(kappa), maxterms=10**7)


def exact_log_normalizer(kappa: float, d: int) -> mp.mpf:
    with mp.workdps(50):
        half = mp.mpf(d) / 2
        if kappa == 0.0:
            return mp.log(2) + half * mp.log(mp.pi) - mp.loggamma(half)
        return half * mp.log(2 * mp.pi) + mp.log(exact_bessel(d / 2 - 1, kappa)) - (half - 1) * mp.log(mp.mpf(kappa))


def exact_ratio(kappa: float, d: int) -> mp.mpf:
    with mp.workdps(50):
        return exact_bessel(d / 2, kappa) / exact_bessel(d / 2 - 1, kappa) if kappa else mp.mpf(0)


def exact_inverse(r: float, d: int, near: float) -> mp.mpf:
    """Kappa with A(kappa) = r, by Newton's method in 50 digits."""
    with mp.workdps(50):
        kappa = mp.mpf(near)
        for _ in range(4):
            ratio = mp.besseli(mp.mpf(d) / 2, kappa, maxterms=10**7) / mp.besseli(
                mp.mpf(d) / 2 - 1, kappa, maxterms=10**7
            )
            kappa -= (ratio - mp.mpf(r)) / (1 - ratio**2 - (d - 1) * ratio / kappa)
        return kappa


def slow_match_voc(found: Detections, truth: Truth, min_overlap: float = MIN_OVERLAP) -> Matches:
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


def slow_match_coco(found: Detections, truth: Truth, min_overlap: float = MIN_OVERLAP) -> Matches:
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


def slow_pooled_matches(
    pairs: Iterable[Pair],
    label: str,
    matcher: Callable[[Detections, Truth, float], Matches],
    min_overlap: float = MIN_OVERLAP,
) -> Matches:
    """Image by image, then ranked together."""
    return pool_matches(matcher(found.of_class(label), truth.of_class(label), min_overlap) for found, truth in pairs)


def _last_best(values: Array) -> int:
    """Place of the largest value; the last one of several, as in COCO's own tool."""
    return len(values) - 1 - int(values[::-1].argmax())
