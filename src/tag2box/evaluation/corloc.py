"""Correct localization: whether the one chosen box is on an object of the class.

n = images
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, require_shape
from tag2box.boxes import Boxes, box_overlaps
from tag2box.evaluation.matching import MIN_OVERLAP
from tag2box.types import Truth


def is_correct(box: Boxes, truth: Truth, label: str, min_overlap: float = MIN_OVERLAP) -> bool:
    """Whether ``box`` (4,) overlaps an object of the class enough; ignored objects count as objects here."""
    return bool((box_overlaps(box[None], truth.of_class(label).boxes) >= min_overlap).any())


def corloc_by_class(correct: npt.ArrayLike, labels: Sequence[str]) -> dict[str, float]:
    """Share of correct images of each class, in order of name."""
    names, hits = np.asarray(labels), np.asarray(correct, dtype=bool)
    require_shape("labels", names, hits.shape)
    return {str(label): float(hits[names == label].mean()) for label in np.unique(names)}


def macro_mean(by_class: Mapping[str, float]) -> float:
    """Mean over classes, each counted once; classes without a value (NaN) are left out, nothing left is NaN."""
    values: Array = np.array([value for value in by_class.values() if not np.isnan(value)])
    return float(values.mean()) if len(values) else float("nan")
