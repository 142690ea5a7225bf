"""Tagged photos to boxes: every tag is found in the photos that have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from tag2box.boxes import box_coverage
from tag2box.data import FoundBox, LabelledPhoto, LabelledPhotos, TaggedPhoto, TagSet
from tag2box.data.tags import shared_tags
from tag2box.product.class_file import ClassSet
from tag2box.product.detecting import detect_classes
from tag2box.product.knowledge import Knowledge
from tag2box.product.learning import LearnedClass, learn_class
from tag2box.product.run_folder import Report
from tag2box.store import FeatureStore

SAME_THING = 0.5
"""A box that covers so much of another, or is covered so, is no further thing."""


class Suspicion(NamedTuple):
    """A tag of a photo, and how likely something is wrong about it."""

    label: str
    photo: TaggedPhoto
    doubt: float
    """That the box is wrong"""
    absence: float
    """That the thing is not in the photo"""


@final
@dataclass(frozen=True, eq=False)
class Localized:
    """What was found in a set of tagged photos."""

    tags: TagSet
    learned: tuple[LearnedClass, ...]
    photos: dict[str, list[TaggedPhoto]]
    """Tag → the photos that it was learned from, in the order of the class's boxes"""
    sizes: dict[str, tuple[int, int]]
    """Photo → height and width, for all that could be read"""
    left_out: tuple[str, ...]
    """Tags with one photo only"""

    def suspicions(self) -> list[Suspicion]:
        """Every tag of every photo, the most doubtful first."""
        found = [
            Suspicion(one.label, photo, float(doubt), float(absence))
            for one in self.learned
            for photo, doubt, absence in zip(self.photos[one.label], one.doubts, one.absences, strict=True)
        ]
        return sorted(found, key=lambda each: -each.doubt)

    def known(self) -> ClassSet:
        """The classes, as a class file keeps them."""
        return ClassSet.of(self.learned[0].fingerprint, self.learned)

    def labelled(self) -> LabelledPhotos:
        """All photos with their boxes."""
        found: dict[str, list[FoundBox]] = {name: [] for name in self.sizes}
        for one in self.learned:
            for place, photo in enumerate(self.photos[one.label]):
                found[photo.name].append(one.box(place))
        tags = {photo.name: tuple(sorted(photo.tags)) for photo in self.tags.photos}
        photos = tuple(
            LabelledPhoto(name, *self.sizes[name], tuple(boxes), tags[name]) for name, boxes in found.items()
        )
        return LabelledPhotos(self.tags.folder.absolute(), tuple(one.label for one in self.learned), photos)


def localize_photos(tags: TagSet, store: FeatureStore, knowledge: Knowledge, report: Report) -> Localized:
    """Find every tag in the photos that have it; photos that are not in the store are left out."""
    readable = {photo.name: photo for photo in tags.photos if photo.name in store}
    by_tag, left_out = shared_tags(readable.values())
    learned = []
    for done, (label, names) in enumerate(by_tag.items(), 1):
        learned.append(learn_class(label, [store.bag(name) for name in names], knowledge))
        report(done, {})
    sizes = {name: (int(height), int(width)) for name in readable for height, width in [store.bag(name).size]}
    photos = {label: [readable[name] for name in names] for label, names in by_tag.items()}
    return Localized(tags, tuple(learned), photos, sizes, tuple(left_out))


def with_all_instances(found: Localized, store: FeatureStore, knowledge: Knowledge) -> LabelledPhotos:
    """The boxes of a run, and in each photo further things of its own tags that reach their class's threshold."""
    labelled, known = found.labelled(), found.known()
    photos = []
    for photo in labelled.photos:
        own = {box.label for box in photo.boxes}
        detected = detect_classes(store.bag(photo.name), known, knowledge)
        boxes = list(photo.boxes)
        for one in detected:  # the surest first
            box = FoundBox(one.label, one.box, one.score, 1.0 - one.score)
            if one.label in own and not _is_among(box, boxes):
                boxes.append(box)
        photos.append(replace(photo, boxes=tuple(boxes)))
    return LabelledPhotos(labelled.folder, labelled.classes, tuple(photos))


def _is_among(box: FoundBox, others: Sequence[FoundBox]) -> bool:
    first, second = (np.array([each.box for each in boxes], dtype=np.float32) for boxes in ([box], others))
    covered = np.maximum(box_coverage(first, second), box_coverage(second, first).T)  # (1, m)
    return bool((covered >= SAME_THING).any())


def need_a_look(suspicions: Sequence[Suspicion], error_rate: float) -> list[Suspicion]:
    """The most doubtful, so many that of the others no more than ``error_rate`` are expected to be wrong."""
    surest_first = sorted(suspicions, key=lambda each: each.doubt)
    expected = np.cumsum([each.doubt for each in surest_first]) / np.arange(1, len(surest_first) + 1)
    trusted = int((expected <= error_rate).sum())  # the mean doubt only rises
    return surest_first[trusted:][::-1]
