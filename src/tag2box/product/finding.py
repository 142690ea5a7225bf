"""The story without a disk: tagged photos in; boxes, doubts and learned classes out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple, final

import numpy as np

from tag2box.arrays import log_odds
from tag2box.boxes import box_coverage, box_overlaps
from tag2box.data.labelled import FoundBox
from tag2box.data.tags import shared_tags
from tag2box.methods.calibration import SUSPECT
from tag2box.methods.localizers import Candidates, taken_by_others
from tag2box.methods.signs import further_signs
from tag2box.model import Model
from tag2box.product.class_file import ClassSet
from tag2box.product.detecting import SAME_BOX, Detector
from tag2box.product.events import Advanced, Began, Ended, Listener, silent
from tag2box.product.learning import Bags, LearnedClass, Lesson, Region, learn_class
from tag2box.product.verdicts import Verdict, judge_classes

SAME_THING = 0.5
"""A box that covers so much of another of its class, or is covered so, is no further thing."""
LEAST_SCORE = 1e-9
ERROR_RATE = 0.2
"""Share of the boxes that nobody looks at which may be wrong."""
MOST_WITHOUT = 24
"""Photos that tell what a class is not: more tell little more."""


Place = tuple[str, str]
"""A photo, and what it should show."""


class PhotoBox(NamedTuple):
    """A box, and the photo that it is in."""

    photo: str
    box: FoundBox

    @property
    def place(self) -> Place:
        """Whose box it is."""
        return self.photo, self.box.label


@final
@dataclass(frozen=True, eq=False)
class Found:
    """What was found in a set of tagged photos."""

    tags: Mapping[str, frozenset[str]]
    """Photo → things in it, for all photos that could be used"""
    learned: tuple[LearnedClass, ...]
    left_out: tuple[str, ...]
    """Tags with one photo only"""
    alone: tuple[LearnedClass, ...] = ()
    """The classes as they were learned before they had to make room for each other"""

    @property
    def classes(self) -> tuple[str, ...]:
        """What was learned."""
        return tuple(one.label for one in self.learned)

    def of(self, label: str) -> LearnedClass | None:
        """What was learned of a thing."""
        return next((one for one in self.learned if one.label == label), None)

    def box(self, photo: str, label: str) -> FoundBox | None:
        """Where a thing was found in a photo."""
        one = self.of(label)
        return one.boxes[one.photos.index(photo)] if one is not None and photo in one.photos else None

    def known(self, fingerprint: str, learned_at: str) -> ClassSet:
        """The classes, as a class file keeps them."""
        return ClassSet(fingerprint, tuple(one.kept(learned_at) for one in self.learned))

    def verdicts(self) -> dict[str, Verdict]:
        """How each class came out, in words."""
        return judge_classes(self.learned)

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

    def trusted(self, doubt: float) -> list[PhotoBox]:
        """Boxes that are doubted no more than so much, and whose tags are not suspected."""
        return [each for each in self.by_doubt() if each.box.doubt <= doubt and each.box.absence < SUSPECT]

    def suspects(self) -> list[PhotoBox]:
        """Tags that are probably wrong, the likeliest first."""
        return sorted(
            (each for each in self.by_doubt() if each.box.absence >= SUSPECT), key=lambda each: -each.box.absence
        )


Teach = Callable[[Sequence[Lesson]], Iterator[LearnedClass]]
"""What learns classes by their lessons, and gives them in that order."""
NOTHING_POINTED_AT: Mapping[str, Mapping[str, Region]] = MappingProxyType({})


def find_classes(
    tags: Mapping[str, Collection[str]],
    bags: Bags,
    model: Model,
    listen: Listener = silent,
    *,
    regions: Mapping[str, Mapping[str, Region]] = NOTHING_POINTED_AT,
    before: Found | None = None,
    teach: Teach | None = None,
) -> Found:
    """Find every tag in the photos that have it; photos without a bag are left out.

    ``regions`` are what a person pointed at: tag → photo → region. What ``before`` has learned by the same lessons is
    taken from there. ``teach`` learns the classes elsewhere than here, one after the other.
    """
    usable = {photo: frozenset(words) for photo, words in tags.items() if photo in bags}
    one_is_enough = [label for label, places in regions.items() if any(photo in usable for photo in places)]
    by_tag, left_out = shared_tags(usable, one_is_enough)
    old = (*before.alone, *before.learned) if before is not None else ()
    lessons = []
    for label, photos in by_tag.items():
        pointed = {photo: region for photo, region in regions.get(label, {}).items() if photo in photos}
        lessons.append(Lesson(label, tuple(photos), _some_without(label, usable), pointed))

    def here(lessons: Sequence[Lesson]) -> Iterator[LearnedClass]:
        return (learn_class(lesson, bags, model) for lesson in lessons)

    teach = teach if teach is not None else here
    alone = []
    listen(Began("localize", len(lessons)))
    for one in _learned(lessons, old, teach, listen):
        alone.append(one)
        listen(Advanced("localize", len(alone), len(lessons)))
    learned = tuple(_learned(_lessons_apart(alone, usable, bags), [*old, *alone], teach, listen))
    listen(Ended("localize"))
    return Found(usable, learned, tuple(left_out), tuple(alone))


def _learned(
    lessons: Sequence[Lesson], old: Sequence[LearnedClass], teach: Teach, listen: Listener
) -> Iterator[LearnedClass]:
    """The classes of these lessons; what was learned by the same ones before is not learned again."""
    known = [_learned_before(lesson, old) for lesson in lessons]
    new = teach([lesson for lesson, one in zip(lessons, known, strict=True) if one is None])
    for one in known:
        if one is None:
            one = next(new)
            one.tell(listen)
        yield one


def _learned_before(lesson: Lesson, old: Iterable[LearnedClass]) -> LearnedClass | None:
    return next((one for one in old if one.lesson == lesson), None)


def _some_without(label: str, tags: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Photos that do not show a thing; which ones, a hash decides, so that a new photo displaces one at most."""
    without = [photo for photo, words in tags.items() if label not in words]
    drawn = sorted(without, key=lambda photo: hashlib.sha256(f"{label}/{photo}".encode()).digest())[:MOST_WITHOUT]
    return tuple(sorted(drawn, key=without.index))


def _lessons_apart(alone: Sequence[LearnedClass], tags: Mapping[str, Collection[str]], bags: Bags) -> list[Lesson]:
    """The lessons of all classes once more, now with the places that belong to other things in the same photo."""
    by_label = {one.label: _candidates(one) for one in alone}
    several = {photo: [label for label in sorted(words) if label in by_label] for photo, words in tags.items()}
    taken = taken_by_others(
        {
            photo: (bags.bag(photo), {label: by_label[label][photo] for label in labels})
            for photo, labels in several.items()
            if len(labels) > 1
        }
    )
    return [
        replace(one.lesson, taken={photo: rows.tobytes() for photo, rows in taken.get(one.label, {}).items()})
        for one in alone
    ]


def _candidates(one: LearnedClass) -> dict[str, Candidates]:
    """Photo → where a class may be; where a person has pointed at it, it is there and nowhere else."""
    return {
        photo: places.likeliest() if photo in one.lesson.regions else places
        for photo, places in zip(one.photos, one.candidates, strict=True)
    }


def further_things(found: Found, bags: Bags, model: Model) -> dict[str, list[FoundBox]]:
    """Photo → its boxes, and further things of its own tags that reach their class's threshold, the surest first.

    Tags that a photo does not have take nothing away. How far to doubt a further thing was learned on base classes: by
    its margin, and by the doubt in the photo's own box; it is never surer than that.
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
            margins = log_odds(np.array([one.score]), LEAST_SCORE)
            doubt = float(model.calibration.further(further_signs(margins, np.array([mine.doubt])))[0])
            box = FoundBox(one.label, one.box, one.score, max(doubt, mine.doubt), mine.absence)
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
