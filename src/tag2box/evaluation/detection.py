"""Average precision of whole result sets: per class, pooled over images.

A pair is one image of one task: an image that several tasks ask about is evaluated once in each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tag2box.evaluation.matching import MIN_OVERLAP, Matches, pool_matches
from tag2box.types import Detections, Truth

Pair = tuple[Detections, Truth]
Matcher = Callable[[Detections, Truth, float], Matches]
"""``match_voc`` or ``match_coco``."""


def pooled_matches(pairs: Iterable[Pair], label: str, matcher: Matcher, min_overlap: float = MIN_OVERLAP) -> Matches:
    """Verdicts on all detections of one class, ranked over all images."""
    return pool_matches(_match(pair, label, matcher, min_overlap) for pair in pairs)


def average_precisions(
    pairs: Sequence[Pair],
    classes: Iterable[str],
    matcher: Matcher,
    rule: Callable[[Matches], float],
    min_overlap: float = MIN_OVERLAP,
) -> dict[str, float]:
    """Average precision of each class, such as ``average_precisions(pairs, classes, match_voc, ap_area)``."""
    return {label: rule(pooled_matches(pairs, label, matcher, min_overlap)) for label in classes}


def _match(pair: Pair, label: str, matcher: Matcher, min_overlap: float) -> Matches:
    detections, truth = pair
    return matcher(detections.of_class(label), truth.of_class(label), min_overlap)
