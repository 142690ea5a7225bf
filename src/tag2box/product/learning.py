"""Learning one kind of thing from the photos that show it, and from some that do not.

B = photos of a class, S = EM steps and their start, k = examples, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, final

import numpy as np

from tag2box.arrays import Array, Float32s, frozen, sigmoid
from tag2box.data.labelled import FoundBox
from tag2box.methods.detectors import LikenessDetector, margin
from tag2box.methods.localizers import Candidates, Clamps, scene_likeness
from tag2box.methods.signs import SupportSigns, best_region, read_signs, weight_around
from tag2box.model import Model
from tag2box.product.class_file import KnownClass
from tag2box.product.events import Learned, Listener, Moved
from tag2box.rows import one_blas_thread
from tag2box.types import ProposalBag

Region = int | ProposalBag
"""What a person pointed at: a row of the photo's bag, or a bag whose last row is the box that was drawn."""


MANY = 200
"""Photos of a class whose features are not all held in memory."""
LEAD = 2.0
"""Log odds by which regions that a person pointed at lead wrong ones in their photos."""


class Bags(Protocol):
    """Regions of photos by name, wherever they are kept."""

    def __contains__(self, image_id: object) -> bool:
        """Whether the photo could be read."""
        ...

    def bag(self, image_id: str) -> ProposalBag:
        """The regions of a photo."""
        ...

    def lean_bag(self, image_id: str) -> ProposalBag:
        """The same; the features may stay where they are until they are looked at."""
        ...


@final
@dataclass(frozen=True)
class Lesson:
    """What a class is learned from; the same lesson teaches the same."""

    label: str
    photos: tuple[str, ...]
    """(B), that show it"""
    without: tuple[str, ...] = ()
    """Some that do not"""
    regions: Mapping[str, Region] = field(default_factory=dict)
    """Photo → what a person pointed at"""
    taken: Mapping[str, bytes] = field(default_factory=dict)
    """Photo → which of its rows are in the place of other things"""

    def bags(self, bags: Bags) -> list[ProposalBag]:
        """The regions of the photos that show it, with the boxes that were drawn."""
        read = bags.lean_bag if len(self.photos) > MANY else bags.bag
        return [_with_drawn(read(photo), self.regions.get(photo)) for photo in self.photos]

    def clamps(self, seen: Sequence[ProposalBag]) -> Clamps:
        """What is known of the photos, by their places."""
        known, taken = {}, {}
        for place, (photo, bag) in enumerate(zip(self.photos, seen, strict=True)):
            if photo in self.regions:
                known[place] = _row(bag, self.regions[photo])
            if photo in self.taken:
                rows = np.frombuffer(self.taken[photo], dtype=np.bool_)
                taken[place] = np.pad(rows, (0, len(bag) - len(rows)))  # a drawn box is nobody else's
        return Clamps(known, taken=taken)


@final
@dataclass(frozen=True, eq=False)
class ClassScores:
    """How well a class is told from others: what it would be found with in photos as if they were new, (14.4)."""

    own: Array
    """(b,), b ≤ B: in the photos that show it, each asked by what the others share"""
    elsewhere: Array
    """In some photos that do not"""

    def __post_init__(self) -> None:
        for name in ("own", "elsewhere"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))


@final
@dataclass(frozen=True, eq=False)
class LearnedClass:
    """Where a thing is in the photos that are tagged with it, and what they share."""

    lesson: Lesson
    boxes: tuple[FoundBox, ...]
    """(B), one for each photo"""
    direction: Array
    """(d,), what the photos share"""
    examples: Float32s
    """(k, d), regions in which it was found, as bags have them …"""
    example_photos: tuple[str, ...]
    """(k), … and whose they are"""
    kappa: float
    threshold: float
    """From which score on a region of a new photo counts as found …"""
    least_likeness: float
    """… if it is so like the class"""
    scores: ClassScores
    likelihoods: tuple[float, ...]
    """(S)"""
    film: Float32s
    """(S, B, 4), the likeliest box of each photo after every step"""
    converged: bool
    candidates: tuple[Candidates, ...]
    """(B), where else it may be in each photo"""
    scene_likeness: float
    """How alike the photos are as a whole, between 0 and 1"""

    @property
    def label(self) -> str:
        """Its name."""
        return self.lesson.label

    @property
    def photos(self) -> tuple[str, ...]:
        """(B)."""
        return self.lesson.photos

    @property
    def expected_right(self) -> float:
        """How many boxes are right, as far as can be told."""
        return sum(1.0 - box.doubt for box in self.boxes)

    def tell(self, listen: Listener) -> None:
        """How it was learned, step by step."""
        for number, (boxes, likelihood) in enumerate(zip(self.film, self.likelihoods, strict=True)):
            listen(Moved(self.label, number, likelihood, boxes))
        listen(Learned(self.label, len(self.photos), self.expected_right))

    def kept(self, learned_at: str) -> KnownClass:
        """What a class file keeps of it."""
        mean_doubt = round(float(np.mean([box.doubt for box in self.boxes])), 4)
        provenance = {"photos": len(self.photos), "mean_doubt": mean_doubt, "learned": learned_at}
        direction = self.direction.astype(np.float32)
        return KnownClass(
            self.label, direction, self.examples, self.kappa, self.threshold, self.least_likeness, provenance
        )


def learn_class(lesson: Lesson, bags: Bags, model: Model) -> LearnedClass:
    """Find the thing that the photos share.

    Where a person pointed at regions it is looked for twice: they count as the thing, and others in their photos also
    as wrong. The second leads far astray at times; so the end counts of which less is doubted.
    """
    seen = lesson.bags(bags)
    clamps = lesson.clamps(seen)
    without = [bags.bag(photo) for photo in lesson.without]
    leads = (0.0, LEAD) if clamps.known else (0.0,)
    with one_blas_thread():
        ends = model.learner.learn_ends(seen, without, np.random.default_rng(0), clamps, leads)
        learned = [_learned(lesson, seen, without, model, clamps, end) for end in ends]
    return max(learned, key=lambda one: one.expected_right)


def _learned(
    lesson: Lesson,
    seen: Sequence[ProposalBag],
    without: Sequence[ProposalBag],
    model: Model,
    clamps: Clamps,
    detector: LikenessDetector,
) -> LearnedClass:
    """What became of a class at one of its ends."""
    signs = read_signs(detector, seen, clamps)
    elsewhere = [best_region(detector.head, bag) for bag in without]
    likenesses = np.array([best.likeness for best in elsewhere])
    threshold = model.calibration.score.of(signs.scores)
    least_likeness = model.calibration.likeness.of(signs.likenesses, likenesses)

    def scores(raw: Array, likeness: Array) -> Array:
        return sigmoid(margin(raw - threshold, likeness - least_likeness, detector.head.sharpness))

    return LearnedClass(
        lesson,
        _boxes(lesson.label, seen, detector, signs, model, clamps),
        detector.direction,
        np.concatenate([seen[i].directions.at([detector.localization.rows[i]]) for i in detector.example_photos]),
        tuple(lesson.photos[i] for i in detector.example_photos),
        detector.solution.foreground.kappa,
        threshold,
        least_likeness,
        ClassScores(
            scores(signs.scores, signs.likenesses), scores(np.array([best.score for best in elsewhere]), likenesses)
        ),
        tuple(step.likelihood for step in detector.solution.steps),
        _film(detector, seen),
        detector.solution.converged,
        tuple(map(Candidates.of, seen, detector.localization.weights)),
        scene_likeness(model.learner.localizer, seen),
    )


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
