"""From the scores of a query image's regions to detections (docs/method.md, section 8).

n = regions, C = classes
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tag2box.arrays import Array, require_number, require_shape, sigmoid
from tag2box.boxes import suppress_overlaps
from tag2box.types import Detections, ProposalBag

MAX_OVERLAP = 0.5
MAX_DETECTIONS = 100


def confidences(logits: Array, log_lambda: float = 0.0) -> Array:
    """(n,) probability of being the object, (8.2).

    For showing to people. Rank by the logits: far from zero, confidences are equal to the last digit.
    """
    return sigmoid(logits - log_lambda)


def ranked_regions(
    bag: ProposalBag,
    scores: Array,
    label: str,
    *,
    max_overlap: float = MAX_OVERLAP,
    max_detections: int = MAX_DETECTIONS,
) -> Detections:
    """The best regions of a bag for one class, after non-maximum suppression; equal scores go by row."""
    require_shape(f"scores of image {bag.image_id!r}", scores, (len(bag),))
    require_number("max_detections", max_detections, at_least=0)
    rows = suppress_overlaps(bag.boxes, scores, max_overlap, max_detections)
    return Detections(bag.boxes[rows], scores[rows], np.full(len(rows), label))


def ranked_classes(
    bag: ProposalBag,
    scores: Array,
    classes: Sequence[str],
    *,
    max_overlap: float = MAX_OVERLAP,
    max_detections: int = MAX_DETECTIONS,
) -> Detections:
    """The best regions for every class by scores (n, C), suppressed within each class, ranked together."""
    return Detections.joined(
        [
            ranked_regions(bag, scores[:, c], label, max_overlap=max_overlap, max_detections=max_detections)
            for c, label in enumerate(classes)
        ]
    )
