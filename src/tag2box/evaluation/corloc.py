"""Correct localization: whether the one chosen box is on an object of the class.

n = images
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tag2box.arrays import Array, Bools
from tag2box.boxes import Boxes, box_overlaps
from tag2box.evaluation.matching import MIN_OVERLAP
from tag2box.types import Truth


def is_correct(box: Boxes, truth: Truth, label: str, min_overlap: float = MIN_OVERLAP) -> bool:
    """Whether ``box`` (4,) overlaps an object of the class enough; ignored objects count as objects here."""
    boxes, _ = truth.of_class(label)
    return bool((box_overlaps(box[None], boxes) >= min_overlap).any())


def corloc_by_class(correct: Bools, labels: Sequence[str]) -> dict[str, float]:
    """Share of correct images of each class, in order of name."""
    names = np.asarray(labels)
    return {str(label): float(correct[names == label].mean()) for label in np.unique(names)}


def macro_mean(by_class: Mapping[str, float]) -> float:
    """Mean over classes, each counted once; classes without a value (NaN) are left out, nothing left is NaN."""
    values: Array = np.array([value for value in by_class.values() if not np.isnan(value)])
    return float(values.mean()) if len(values) else float("nan")
