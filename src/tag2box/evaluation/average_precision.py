"""Average precision of ranked detections: three rules, three names (docs/method.md, section 11).

n = detections that count
"""

from __future__ import annotations

import numpy as np

from tag2box.arrays import Array
from tag2box.evaluation.matching import Matches

TINY = float(np.spacing(1.0))
"""COCO's guard against a precision of 0/0."""


def precision_recall(matches: Matches) -> tuple[Array, Array]:
    """Precision and recall (n,) after each detection that is not ignored."""
    hits = matches.hits[~matches.ignored]
    right = np.cumsum(hits)
    return right / np.arange(1, len(hits) + 1), right / max(matches.truths, 1)


def ap_11_points(matches: Matches) -> float:
    """PASCAL 2007: mean of the best precision at recalls 0, 0.1, ..., 1. Without objects, NaN."""
    if matches.truths == 0:
        return float("nan")
    precision, recall = precision_recall(matches)
    best = [precision[recall >= level].max(initial=0.0) for level in np.arange(11) / 10]
    return float(np.mean(best))


def ap_area(matches: Matches) -> float:
    """PASCAL 2010 and later: area under the monotone precision-recall curve. Without objects, NaN."""
    if matches.truths == 0:
        return float("nan")
    precision, recall = precision_recall(matches)
    return float(np.sum(_best_ahead(precision) * np.diff(recall, prepend=0.0)))


def ap_101_points(matches: Matches) -> float:
    """COCO: mean of the best precision at recalls 0, 0.01, ..., 1. Without objects, NaN."""
    if matches.truths == 0:
        return float("nan")
    hits = matches.hits[~matches.ignored]
    right = np.cumsum(hits).astype(np.float64)
    precision = right / (np.arange(1, len(hits) + 1) + TINY)
    places = np.searchsorted(right / matches.truths, np.linspace(0.0, 1.0, 101), side="left")  # (101,)
    reached = places < len(hits)
    return float(np.where(reached, np.append(_best_ahead(precision), 0.0)[places], 0.0).mean())


def _best_ahead(precision: Array) -> Array:
    """Best precision at this recall or any higher one."""
    return np.maximum.accumulate(precision[::-1])[::-1]
