"""Signs that a box is right, or that a photo does not show the thing at all (docs/method.md, section 14).

B = photos, n = regions of a photo, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from tag2box.arrays import Array, Bools, frozen, log_odds
from tag2box.boxes import box_areas, box_overlaps
from tag2box.methods.detectors.likeness import LikenessDetector, LikenessHead
from tag2box.methods.localizers import NO_CLAMPS, Clamps
from tag2box.types import ABSENT, WHOLE_IMAGE, ProposalBag

SAME_PLACE = 0.5
"""Regions that overlap by so much show the same thing."""
SUREST = 1e-6
NOTHING = 1e-9
"""A sum of features that is shorter, against that of one photo, is what rounding leaves of nothing."""
WRONG_SIGNS = ("weight around the box", "agreement of the others", "likeness to the others", "size", "size squared")
FURTHER_SIGNS = ("margin over the thresholds", "log odds that the photo's own box is wrong")
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
    """(B, d), the class's direction as the other photos have it (14.1), as the localizer sees features"""
    scores: Array
    """(B,), the best score of each photo as the others have the class; empty if there are no others to ask"""
    likenesses: Array
    """(B,), of the regions with these scores"""

    def __post_init__(self) -> None:
        for name in ("wrong", "absent", "directions", "scores", "likenesses"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))


def read_signs(learned: LikenessDetector, bags: Sequence[ProposalBag], clamps: Clamps = NO_CLAMPS) -> SupportSigns:
    """The signs in the photos that a class was learned from: each photo is asked as if it were new."""
    solution = learned.solution
    found, views = solution.localization, solution.views
    sums = np.stack([view.directions.sum(own) for own, view in zip(found.weights, views, strict=True)])  # (B, d)
    directions, others = _left_out_directions(sums, solution.foreground.theta)
    head = _left_out_head(learned, directions)
    best, scores, likenesses = (np.empty(len(bags)) for _ in range(3))
    wrong = np.empty((len(bags), len(WRONG_SIGNS)))
    for i, (bag, view) in enumerate(zip(bags, views, strict=True)):
        likeness = view.directions.along(directions[i])  # (n,)
        logits = solution.foreground.kappa * likeness - view.background + clamps.free(i, len(bag))
        others_choice = int(np.argmax(logits))
        best[i] = likeness[others_choice]
        _, scores[i], likenesses[i] = best_region(head, bag, i)
        row = int(found.rows[i]) if found.rows[i] != ABSENT else others_choice
        wrong[i] = _wrong_signs(bag, row, others_choice, found.weights[i], likeness[row])
    absent = np.stack([best, medians_of_others(best)], axis=1)
    return SupportSigns(wrong, absent, directions, scores[others], likenesses[others])


def _left_out_head(learned: LikenessDetector, directions: Array) -> LikenessHead:
    """The class as it would be without each of its photos in turn, by the directions (B, d) of the others."""
    remembered = np.array(learned.example_photos)  # (k,)
    names = [str(place) for place in range(len(directions))]
    examples = [learned.examples] * len(directions)
    for place in learned.example_photos:
        examples[place] = learned.examples[remembered != place]
    return learned.learner.head(names, directions, examples)


class BestRegion(NamedTuple):
    """The region of a photo that has the best score for a class."""

    row: int
    score: float
    likeness: float


def best_region(head: LikenessHead, bag: ProposalBag, place: int = 0) -> BestRegion:
    """Where a class would be found in a photo, by its place in the head; of equal scores the first row."""
    likeness = head.likeness_of(place, bag)  # (n,)
    scores = head.scored(bag, likeness)  # (n,)
    row = int(scores.argmax())
    return BestRegion(row, float(scores[row]), float(likeness[row]))


def _left_out_directions(sums: Array, theta: Array) -> tuple[Array, Bools]:
    """(B, d), the direction of all photos but one (14.1), and whether there are others; where not, ``theta``."""
    others = sums.sum(axis=0) - sums  # (B, d)
    lengths = np.linalg.norm(others, axis=1)  # (B,)
    some = lengths > NOTHING * max(1.0, float(np.linalg.norm(sums, axis=1).max()))
    return np.where(some[:, None], others / np.where(some, lengths, 1.0)[:, None], theta), some


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


def further_signs(margins: Array, doubts: Array) -> Array:
    """(n, 2), see FURTHER_SIGNS: of things with such margins, beside boxes with such doubts."""
    return np.stack([margins, log_odds(doubts, SUREST)], axis=1)


def medians_of_others(values: Array) -> Array:
    """(B,), for each value the median of all others; of a single value, itself."""
    if len(values) < 2:
        return values
    order = np.argsort(values, kind="stable")
    ranked, ranks = values[order], np.argsort(order, kind="stable")  # (B,)
    low, high = (len(values) - 2) // 2, (len(values) - 1) // 2  # the middle of B - 1 values
    middles = [
        ranked[place + (ranks <= place)] for place in (low, high)
    ]  # (B,) each: those after the one left out move up
    return 0.5 * (middles[0] + middles[1])
