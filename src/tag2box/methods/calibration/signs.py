"""Signs that a box is right, or that a photo does not show the thing at all (docs/method.md, section 14).

B = photos, n = regions of a photo, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, log_odds
from tag2box.boxes import box_areas, box_overlaps
from tag2box.methods.localizers.foregrounds import VmfForeground
from tag2box.methods.localizers.solution import Solution
from tag2box.sphere import direction_and_length
from tag2box.types import ABSENT, WHOLE_IMAGE, ProposalBag

SAME_PLACE = 0.5
"""Regions that overlap by so much show the same thing."""
SUREST = 1e-6
WRONG_SIGNS = ("weight around the box", "agreement of the others", "likeness to the others", "size", "size squared")
ABSENT_SIGNS = ("best likeness to the others", "likeness of the others among themselves")


@final
@dataclass(frozen=True, eq=False)
class SupportSigns:
    """What can be seen in each photo of a class, without any truth."""

    wrong: Array
    """(B, 5), see WRONG_SIGNS"""
    absent: Array
    """(B, 2), see ABSENT_SIGNS"""
    directions: Array
    """(B, d), the class's direction as the other photos have it (14.1)"""

    def __post_init__(self) -> None:
        for name in ("wrong", "absent", "directions"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))


def read_signs(solution: Solution[VmfForeground], bags: Sequence[ProposalBag]) -> SupportSigns:
    """The signs in the photos that a solution was found in."""
    found = solution.localization
    views = [solution.view(bag) for bag in bags]
    sums = np.stack([weights @ features for weights, (features, _) in zip(found.weights, views, strict=True)])
    directions = np.stack([direction_and_length(sums.sum(axis=0) - own)[0] for own in sums])  # (B, d)
    best = np.empty(len(bags))
    wrong = np.empty((len(bags), len(WRONG_SIGNS)))
    for i, (bag, (features, background)) in enumerate(zip(bags, views, strict=True)):
        likeness = features @ directions[i]  # (n,)
        others_choice = int(np.argmax(solution.foreground.kappa * likeness - background))
        best[i] = likeness[others_choice]
        row = int(found.rows[i]) if found.rows[i] != ABSENT else others_choice
        wrong[i] = _wrong_signs(bag, row, others_choice, found.weights[i], likeness[row])
    return SupportSigns(wrong, np.stack([best, _medians_of_others(best)], axis=1), directions)


def _wrong_signs(bag: ProposalBag, row: int, others_choice: int, weights: Array, likeness: float) -> list[float]:
    agreement = float(box_overlaps(bag.boxes[[row]], bag.boxes[[others_choice]])[0, 0])
    areas = box_areas(bag.boxes[[row, WHOLE_IMAGE]])
    size = 0.5 * float(np.log(areas[0] / areas[1]))
    odds = float(log_odds(np.array([weight_around(bag, row, weights)]), SUREST)[0])
    return [odds, agreement, float(likeness), size, size**2]


def weight_around(bag: ProposalBag, row: int, weights: Array) -> float:
    """How much of a photo's weight (n,) is on regions that show the same thing as a row, between 0 and 1."""
    overlaps = box_overlaps(bag.boxes[[row]], bag.boxes)[0]  # (n,)
    return float(np.clip(weights[overlaps >= SAME_PLACE].sum(), 0.0, 1.0))


def _medians_of_others(values: Array) -> Array:
    """(B,), for each value the median of all others; of a single value, itself."""
    if len(values) < 2:
        return values
    return np.array([np.median(np.delete(values, i)) for i in range(len(values))])
