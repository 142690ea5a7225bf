"""The story without a disk: tagged photos in; boxes, doubts and learned classes out.

B = photos of a class, S = EM steps and their start, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, Protocol, final

import numpy as np

from tag2box.arrays import Array, Float32s
from tag2box.boxes import box_coverage, box_overlaps
from tag2box.data.labelled import FoundBox
from tag2box.data.tags import shared_tags
from tag2box.methods.calibration import SUSPECT
from tag2box.methods.detectors import LikenessDetector
from tag2box.methods.localizers import Clamps
from tag2box.methods.signs import SupportSigns, read_signs, weight_around
from tag2box.model import Model
from tag2box.product.class_file import ClassSet, KnownClass
from tag2box.product.detecting import SAME_BOX, Detector
from tag2box.product.events import Advanced, Began, Ended, Learned, Listener, Moved, silent
from tag2box.types import ProposalBag

SAME_THING = 0.5
"""A box that covers so much of another of its class, or is covered so, is no further thing."""

Region = int | ProposalBag
"""What a person pointed at: a row of the photo's bag, or a bag whose last row is the box that was drawn."""


class Bags(Protocol):
    """Regions of photos by name, wherever they are kept."""

    def __contains__(self, image_id: object) -> bool:
        """Whether the photo could be read."""
        ...

    def bag(self, image_id: str) -> ProposalBag:
        """The regions of a photo."""
        ...


class PhotoBox(NamedTuple):
    """A box, and the photo that it is in."""

    photo: str
    box: FoundBox


@final
@dataclass(frozen=True, eq=False)
class LearnedClass:
    """Where a thing is in the photos that are tagged with it, and what they share."""

    label: str
    photos: tuple[str, ...]
    """(B)"""
    boxes: tuple[FoundBox, ...]
    """(B), one for each photo"""
    direction: Array
    """(d,), what the photos share"""
    kappa: float
    threshold: float
    """From which score on a region of a new photo counts as found"""
    likelihoods: tuple[float, ...]
    """(S)"""
    film: Float32s
    """(S, B, 4), the likeliest box of each photo after every step"""
    converged: bool
    regions: Mapping[str, Region]
    """Photo → what a person had pointed at"""

    @property
    def expected_right(self) -> float:
        """How many boxes are right, as far as can be told."""
        return sum(1.0 - box.doubt for box in self.boxes)

    def kept(self, learned_at: str) -> KnownClass:
        """What a class file keeps of it."""
        mean_doubt = round(float(np.mean([box.doubt for box in self.boxes])), 4)
        provenance = {"photos": len(self.photos), "mean_doubt": mean_doubt, "learned": learned_at}
        return KnownClass(self.label, self.direction.astype(np.float32), self.kappa, self.threshold, provenance)


@final
@dataclass(frozen=True, eq=False)
class Found:
    """What was found in a set of tagged photos."""

    tags: Mapping[str, frozenset[str]]
    """Photo → things in it, for all photos that could be used"""
    learned: tuple[LearnedClass, ...]
    left_out: tuple[str, ...]
    """Tags with one photo only"""

    @property
    def classes(self) -> tuple[str, ...]:
        """What was learned."""
        return tuple(one.label for one in self.learned)

    def known(self, fingerprint: str, learned_at: str) -> ClassSet:
        """The classes, as a class file keeps them."""
        return ClassSet(fingerprint, tuple(one.kept(learned_at) for one in self.learned))

    def boxes(self) -> dict[str, list[FoundBox]]:
        """Photo → its boxes, one for each thing."""
        found: dict[str, list[FoundBox]] = {photo: [] for photo in self.tags}
        for one in self.learned:
            for photo, box in zip(one.photos, one.boxes, strict=True):
                found[photo].append(box)
        return found

    def by_doubt(self) -> list[PhotoBox]:
        """Every box, the most doubtful first."""
        found = [PhotoBox(*each) for one in self.learned for each in zip(one.photos, one.boxes, strict=True)]
        return sorted(found, key=lambda each: -each.box.doubt)

    def suspects(self) -> list[PhotoBox]:
        """Tags that are probably wrong, the likeliest first."""
        return sorted(
            (each for each in self.by_doubt() if each.box.absence >= SUSPECT), key=lambda each: -each.box.absence
        )


NOTHING_POINTED_AT: Mapping[str, Mapping[str, Region]] = MappingProxyType({})


def find_classes(
    tags: Mapping[str, Collection[str]],
    bags: Bags,
    model: Model,
    listen: Listener = silent,
    *,
    regions: Mapping[str, Mapping[str, Region]] = NOTHING_POINTED_AT,
    before: Found | None = None,
) -> Found:
    """Find every tag in the photos that have it; photos without a bag are left out.

    ``regions`` are what a person pointed at: tag → photo → region. Classes of ``before`` whose photos and regions are
    the same are taken from there.
    """
    usable = {photo: frozenset(words) for photo, words in tags.items() if photo in bags}
    one_is_enough = [label for label, places in regions.items() if any(photo in usable for photo in places)]
    by_tag, left_out = shared_tags(usable, one_is_enough)
    old = {one.label: one for one in before.learned} if before is not None else {}
    learned = []
    listen(Began("localize", len(by_tag)))
    for done, (label, photos) in enumerate(by_tag.items(), 1):
        pointed = {photo: region for photo, region in regions.get(label, {}).items() if photo in photos}
        one = old.get(label)
        if one is None or one.photos != tuple(photos) or one.regions != pointed:
            one = learn_class(label, photos, bags, model, pointed, listen)
        learned.append(one)
        listen(Advanced("localize", done, len(by_tag)))
    listen(Ended("localize"))
    return Found(usable, tuple(learned), tuple(left_out))


def learn_class(
    label: str,
    photos: Sequence[str],
    bags: Bags,
    model: Model,
    regions: Mapping[str, Region] = MappingProxyType({}),
    listen: Listener = silent,
) -> LearnedClass:
    """Find the thing that the photos share."""
    seen = [_with_drawn(bags.bag(photo), regions.get(photo)) for photo in photos]
    clamps = Clamps(
        {place: _row(seen[place], regions[photo]) for place, photo in enumerate(photos) if photo in regions}
    )
    detector = model.learner.learn(seen, (), np.random.default_rng(0), clamps)
    signs = read_signs(detector, seen)
    film = _film(detector, seen)
    for step, (boxes, state) in enumerate(zip(film, detector.solution.steps, strict=True)):
        listen(Moved(label, step, state.likelihood, boxes))
    foreground = detector.solution.foreground
    one = LearnedClass(
        label,
        tuple(photos),
        _boxes(label, seen, detector, signs, model, clamps),
        foreground.theta,
        foreground.kappa,
        model.calibration.threshold(signs.scores),
        tuple(state.likelihood for state in detector.solution.steps),
        film,
        detector.solution.converged,
        dict(regions),
    )
    listen(Learned(label, len(photos), one.expected_right))
    return one


def _boxes(
    label: str,
    bags: Sequence[ProposalBag],
    detector: LikenessDetector,
    signs: SupportSigns,
    model: Model,
    clamps: Clamps,
) -> tuple[FoundBox, ...]:
    """One box for each photo; nobody doubts what a person has said."""
    doubts, absences = model.calibration.wrong(signs.wrong), model.calibration.absent(signs.absent)
    found = detector.localization
    boxes = []
    for place, bag in enumerate(bags):
        row = int(found.rows[place])
        x0, y0, x1, y1 = (float(edge) for edge in bag.boxes[row])
        score = weight_around(bag, row, found.weights[place])
        doubt, absence = (0.0, 0.0) if place in clamps.known else (float(doubts[place]), float(absences[place]))
        boxes.append(FoundBox(label, (x0, y0, x1, y1), score, doubt, absence))
    return tuple(boxes)


def _film(detector: LikenessDetector, bags: Sequence[ProposalBag]) -> Float32s:
    """(S, B, 4)."""
    rows = detector.solution.rows_by_step()  # (S, B)
    return np.stack([bag.boxes[rows[:, place]] for place, bag in enumerate(bags)], axis=1)


def _with_drawn(bag: ProposalBag, region: Region | None) -> ProposalBag:
    """The bag with a box that was drawn as its last row."""
    return bag.with_last_row_of(region) if isinstance(region, ProposalBag) else bag


def _row(bag: ProposalBag, region: Region) -> int:
    return len(bag) - 1 if isinstance(region, ProposalBag) else region


def further_things(found: Found, bags: Bags, model: Model) -> dict[str, list[FoundBox]]:
    """Photo → its boxes, and further things of its own tags that reach their class's threshold, the surest first.

    Tags that a photo does not have take nothing away. A further thing is right if the photo's own box shows what the
    class is, and if the detection is right beside it: its doubt counts both.
    """
    boxes, known = found.boxes(), found.known(model.fingerprint, "")
    detectors: dict[frozenset[str], Detector] = {}
    for photo, own in boxes.items():
        labels = frozenset(box.label for box in own)
        if not labels:
            continue
        if labels not in detectors:
            detectors[labels] = Detector(known.only(labels), model)
        first = {box.label: box for box in own}
        for one in detectors[labels].detect(bags.bag(photo)):
            mine = first[one.label]
            doubt = 1.0 - (1.0 - mine.doubt) * one.score
            box = FoundBox(one.label, one.box, one.score, doubt, mine.absence)
            if not _is_among(box, own):
                own.append(box)
    return boxes


def _is_among(box: FoundBox, others: Sequence[FoundBox]) -> bool:
    """Whether a thing is there already: a part or a group of its own class, or the very place of another."""
    first, second = (np.array([each.box for each in boxes], dtype=np.float32) for boxes in ([box], others))
    covered = np.maximum(box_coverage(first, second), box_coverage(second, first).T)[0]  # (m,)
    same_class = np.array([each.label == box.label for each in others])
    return bool(np.where(same_class, covered >= SAME_THING, box_overlaps(first, second)[0] > SAME_BOX).any())


def need_a_look(boxes: Iterable[PhotoBox], error_rate: float) -> list[PhotoBox]:
    """The most doubtful, so many that of the others no more than ``error_rate`` are expected to be wrong."""
    surest_first = sorted(boxes, key=lambda each: each.box.doubt)
    expected = np.cumsum([each.box.doubt for each in surest_first]) / np.arange(1, len(surest_first) + 1)
    trusted = int((expected <= error_rate).sum())  # the mean doubt only rises
    return surest_first[trusted:][::-1]
