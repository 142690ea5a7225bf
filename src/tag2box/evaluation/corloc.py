"""Correct localization: whether the one chosen box is on an object of the class, and if not, why.

n = regions of the image
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, require_shape
from tag2box.boxes import Boxes, box_coverage, box_overlaps
from tag2box.evaluation.matching import MIN_OVERLAP
from tag2box.types import Truth

MOSTLY = 0.7
"""A box is a part of an object if so much of it lies inside, and too large if it holds so much of an object."""


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


class Verdict(StrEnum):
    """What a chosen box shows."""

    right = "right"
    no_region = "no region on the object"
    other = "another kind of object"
    part = "part of the object"
    group = "object and more"
    near = "partly on the object"
    background = "background"


def judge_box(box: Boxes, regions: Boxes, truth: Truth, label: str) -> Verdict:
    """The verdict on a ``box`` (4,) chosen among ``regions`` (n, 4); ``truth`` has the objects of all classes."""
    if is_correct(box, truth, label):
        return Verdict.right
    own, others = truth.of_class(label), truth.where(truth.labels != label)
    if not (box_overlaps(regions, own.boxes) >= MIN_OVERLAP).any():
        return Verdict.no_region
    if (box_overlaps(box[None], others.boxes) >= MIN_OVERLAP).any():
        return Verdict.other
    if box_coverage(box[None], own.boxes).max(initial=0.0) >= MOSTLY:
        return Verdict.part
    if box_coverage(own.boxes, box[None]).max(initial=0.0) >= MOSTLY:
        return Verdict.group
    touched = np.max(box_overlaps(box[None], own.boxes), initial=0.0)
    return Verdict.near if touched > 0 else Verdict.background
