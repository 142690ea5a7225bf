"""One thing, one name: where a photo shows several kinds of thing, no two of them are in the same place.

k = candidates of a class in a photo, n = regions of a photo
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar, final

import numpy as np

from tag2box.arrays import Array, Bools, Float32s, frozen
from tag2box.boxes import box_overlaps
from tag2box.methods.localizers.starts import Clamps
from tag2box.types import Localization, ProposalBag

CANDIDATES = 40
"""Of a class in a photo."""
APART = 0.3
"""Two things overlap by less."""
BEAM = 200
"""Ways to place the first classes of a photo that are followed up."""
UNLIKELY = 1e-12


@final
@dataclass(frozen=True, eq=False)
class Candidates:
    """Where a thing may be in a photo, the likeliest place first."""

    boxes: Float32s
    """(k, 4)"""
    log_weights: Array
    """(k,)"""

    @classmethod
    def of(cls, bag: ProposalBag, weights: Array) -> Self:
        """The regions with the most weight (n,); equal ones go by row."""
        best = np.argsort(-weights, kind="stable")[:CANDIDATES]
        boxes = frozen(bag.boxes[best], np.float32)
        return cls(boxes, frozen(np.log(np.maximum(weights[best], UNLIKELY)), np.float64))

    def likeliest(self) -> Candidates:
        """The first place alone, for a thing that is there and nowhere else."""
        return Candidates(self.boxes[:1], self.log_weights[:1])


def settle(candidates: Sequence[Candidates]) -> list[int]:
    """The place of each class among its candidates, so that together they are likeliest and nowhere in each other's.

    Where that cannot be, the classes stay where they would be alone.
    """
    ways: list[tuple[float, list[int]]] = [(0.0, [])]
    for number, one in enumerate(candidates):
        apart = [box_overlaps(one.boxes, other.boxes) < APART for other in candidates[:number]]
        ways = _continued(ways, one, apart)
    return ways[0][1] if ways else [0] * len(candidates)


def _continued(
    ways: Sequence[tuple[float, list[int]]], one: Candidates, apart: Sequence[Bools]
) -> list[tuple[float, list[int]]]:
    """The likeliest ways to place one class more, by where it is apart from each candidate of those before."""
    longer = []
    for total, places in ways:
        free = np.ones(len(one.boxes), dtype=np.bool_)
        for allowed, place in zip(apart, places, strict=True):
            free &= allowed[:, place]
        longer += [(total + float(one.log_weights[row]), [*places, int(row)]) for row in np.flatnonzero(free)]
    return sorted(longer, key=lambda way: (-way[0], way[1]))[:BEAM]


def taken(bag: ProposalBag, others: Float32s) -> Bools:
    """(n,), regions that are in the place of other things (m, 4)."""
    return box_overlaps(bag.boxes, others).max(axis=1) >= APART


class LearnedWhere(Protocol):
    """What was learned of a thing, with the place that it has in its photos."""

    @property
    def localization(self) -> Localization:
        """One region of each photo, and the weights of all."""
        ...


L = TypeVar("L", bound=LearnedWhere, covariant=True)


class LearnsOne(Protocol[L]):
    """Learns a class by what is known of its photos."""

    def learn(
        self,
        positives: Sequence[ProposalBag],
        negatives: Sequence[ProposalBag],
        rng: np.random.Generator,
        clamps: Clamps = ...,
    ) -> L:
        """What the positives share."""
        ...


def learn_apart(
    learner: LearnsOne[L],
    bags: Sequence[ProposalBag],
    tags: Sequence[Collection[str]],
    classes: Sequence[str],
    rng: np.random.Generator,
) -> dict[str, L]:
    """Learn every class alone; where their answers meet, settle it, and learn those that have to move once more."""
    shown = {label: [place for place, words in enumerate(tags) if label in words] for label in classes}
    negatives = {label: [bag for bag, words in zip(bags, tags, strict=True) if label not in words] for label in classes}
    positives = {label: [bags[place] for place in shown[label]] for label in classes}
    learned = {label: learner.learn(positives[label], negatives[label], rng) for label in classes}
    taken: dict[str, dict[int, Bools]] = {label: {} for label in classes}
    for image, bag in enumerate(bags):
        own = {label: shown[label].index(image) for label in classes if image in shown[label]}
        weights = {label: learned[label].localization.weights[place] for label, place in own.items()}
        candidates = {label: Candidates.of(bag, values) for label, values in weights.items()}
        for label, rows in taken_by_others(bag, candidates).items():
            taken[label][own[label]] = rows
    for label in (label for label in classes if taken[label]):
        learned[label] = learner.learn(positives[label], negatives[label], rng, Clamps(taken=taken[label]))
    return learned


def taken_by_others(bag: ProposalBag, candidates: Mapping[str, Candidates]) -> dict[str, Bools]:
    """For each class that has to move in a photo, given the candidates of all: (n,), rows that others have taken."""
    if len(candidates) < 2:
        return {}
    settled = settle(list(candidates.values()))
    boxes = {label: one.boxes[place] for (label, one), place in zip(candidates.items(), settled, strict=True)}
    moved = [label for (label, place) in zip(candidates, settled, strict=True) if place > 0]
    return {label: taken(bag, np.stack([box for other, box in boxes.items() if other != label])) for label in moved}
