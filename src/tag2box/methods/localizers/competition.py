"""One thing, one name: where a photo shows several kinds of thing, no two of them are in the same place.

k = candidates of a class in a photo, n = regions of a photo
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self, TypeVar, final

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
DIGITS = 2
"""Of log weights that differ by less, neither is likelier."""


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


class _Way(NamedTuple):
    """How the first classes of a photo may be placed."""

    total: float
    """Sum of their log weights"""
    touching: float
    """Sum of their overlaps"""
    places: list[int]

    @property
    def rank(self) -> tuple[float, float, int, list[int]]:
        """The likeliest way is first; of equally likely ones, the one whose classes touch least and seldom move."""
        moved = sum(place > 0 for place in self.places)
        return -round(self.total, DIGITS), self.touching, moved, self.places


def settle(candidates: Sequence[Candidates]) -> list[int]:
    """The place of each class among its candidates, so that together they are likeliest and nowhere in each other's.

    Where that cannot be, the classes stay where they would be alone.
    """
    ways = [_Way(0.0, 0.0, [])]
    for number, one in enumerate(candidates):
        overlaps = [box_overlaps(one.boxes, other.boxes) for other in candidates[:number]]
        ways = _continued(ways, one, overlaps)
    return ways[0].places if ways else [0] * len(candidates)


def _continued(ways: Sequence[_Way], one: Candidates, overlaps: Sequence[Array]) -> list[_Way]:
    """The likeliest ways to place one class more, by its overlaps with each candidate of those before."""
    longer = []
    for total, touching, places in ways:
        columns = [each[:, place] for each, place in zip(overlaps, places, strict=True)]
        shared = np.stack(columns, axis=1) if columns else np.zeros((len(one.boxes), 1))  # (k, classes before)
        for row in np.flatnonzero((shared < APART).all(axis=1)).tolist():
            added = total + float(one.log_weights[row]), touching + float(shared[row].sum())
            longer.append(_Way(*added, [*places, row]))
    return sorted(longer, key=lambda way: way.rank)[:BEAM]


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
    photos: dict[int, Contested] = {}
    for image, bag in enumerate(bags):
        own = {label: shown[label].index(image) for label in classes if image in shown[label]}
        weights = {label: learned[label].localization.weights[place] for label, place in own.items()}
        photos[image] = bag, {label: Candidates.of(bag, values) for label, values in weights.items()}
    for label, rows_by_image in taken_by_others(photos).items():
        taken = {shown[label].index(image): rows for image, rows in rows_by_image.items()}
        learned[label] = learner.learn(positives[label], negatives[label], rng, Clamps(taken=taken))
    return learned


Contested = tuple[ProposalBag, Mapping[str, Candidates]]
"""A photo, and where each of its classes may be."""
P = TypeVar("P", bound=Hashable)


def taken_by_others(photos: Mapping[P, Contested]) -> dict[str, dict[P, Bools]]:
    """For each class that has to move in some photo: photo → (n,), rows that others have taken.

    It is about to be learned once more, and may end elsewhere in every photo: others have their places in all of them.
    """
    settled = {name: _settled(bag, shown) for name, (bag, shown) in photos.items() if len(shown) > 1}
    moves = {label for one in settled.values() for label in one.moved}
    return {
        label: {name: _taken(label, one.overlaps, moves) for name, one in settled.items() if label in one.overlaps}
        for label in sorted(moves)
    }


class _Settled(NamedTuple):
    """A photo in which every class has a place."""

    overlaps: Mapping[str, Array]
    """(n,) each, of all rows with the place of a class"""
    moved: Collection[str]
    """Classes that would be elsewhere if they were alone"""


def _settled(bag: ProposalBag, candidates: Mapping[str, Candidates]) -> _Settled:
    places = dict(zip(candidates, settle(list(candidates.values())), strict=True))
    overlaps = {label: box_overlaps(bag.boxes, one.boxes[[places[label]]])[:, 0] for label, one in candidates.items()}
    return _Settled(overlaps, [label for label, place in places.items() if place > 0])


def _taken(label: str, overlaps: Mapping[str, Array], moves: Collection[str]) -> Bools:
    """(n,), by the overlap of all rows with the place of each class.

    Classes that move are learned one by one, so that each keeps to what is nearer to its own place than to theirs: else
    two could end in the same.
    """
    others = [other for other in overlaps if other != label]
    taken = np.max([overlaps[other] for other in others], axis=0) >= APART
    for other in others:
        if other in moves:
            taken |= overlaps[other] >= overlaps[label]
    return taken
