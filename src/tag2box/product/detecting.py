"""Detecting known classes in photos.

n = regions of a bag, m = regions that have a name, C = classes
"""

from __future__ import annotations

import shutil
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

from tag2box.arrays import Array, Bools, require_number, sigmoid
from tag2box.boxes import Size, box_coverage, edge_distances, suppress_overlaps
from tag2box.data.formats.coco_results import FOUND
from tag2box.errors import PhotoError, StoreError
from tag2box.extract import Extractor, PhotoFile, each_bag, each_result, require_unchanged, store_header
from tag2box.methods.detectors import LikenessHead, ranked_classes
from tag2box.model import Model
from tag2box.product.class_file import ClassSet
from tag2box.store import FeatureStore, as_stored
from tag2box.types import Detection, Detections, ProposalBag

NESTED = 0.75
"""A box that lies in a surer one of its class by so much, or has it inside, is no thing of its own."""
SAME_BOX = 0.5
"""Boxes that overlap by more are one thing, which has one name."""


@final
class Detector:
    """Finds known classes in photos; what is the same for every photo is worked out once."""

    def __init__(self, known: ClassSet, model: Model) -> None:
        """Be ready for photos, as the model's extractor sees them."""
        self.known = known
        self._labels = known.labels
        self._head = head_of(known, model) if known.classes else None
        self._thresholds = np.array([each.threshold for each in known.classes])  # (C,)
        self._least = np.array([each.least_likeness for each in known.classes])  # (C,)
        self._moved = {each.label: known.thresholds[each.label] - each.threshold for each in known.classes}

    def detect(self, bag: ProposalBag, min_score: float = FOUND) -> Detections:
        """What of the known classes is in the photo; a score of one half is the class's threshold (14.4).

        A thing has the name that was learned best, wherever a person moved thresholds to: it does not change its name
        because its class shall be found less often.
        """
        require_number("min_score", min_score)
        if self._head is None:
            return Detections.joined([])
        found = ranked_classes(bag, self._head.margins(bag, self._thresholds, self._least), self._labels)
        named = found[suppress_overlaps(found.boxes, found.scores, SAME_BOX, len(found))]
        moved = np.array([self._moved[label] for label in named.labels.tolist()])  # (m,)
        shown = Detections.ranked(named.boxes, sigmoid(named.scores - moved), named.labels)
        return shown[(shown.scores >= min_score) & ~_nested(shown)]

    def likeness_to_examples(self, bag: ProposalBag, one: Detection) -> Array:
        """(k,), how like a thing that was found in the photo is to each of the regions that its class remembers."""
        if self._head is None:
            return np.zeros(0)
        row = int(edge_distances(bag.boxes, one.box).argmin())
        return self._head.likeness_to_examples(self._labels.index(one.label), bag, row)


def head_of(known: ClassSet, model: Model) -> LikenessHead:
    """What scores regions for classes as a file keeps them."""
    return model.learner.head_of_kept(known.labels, known.directions, [each.examples for each in known.classes])


class Looked(NamedTuple):
    """What was seen in a photo."""

    size: Size
    found: Detections
    """All that it may show, down to a score of 0"""


def detect_photos(
    detector: Detector, extractor: Extractor, photos: Sequence[PhotoFile], features: Path | None
) -> Generator[tuple[PhotoFile, Looked | PhotoError]]:
    """Each photo with what was seen in it, or with what is wrong with it.

    What was extracted stays in the folder ``features``, if there is one, and the next time it goes on from there. What
    another job left there is thrown away. The detections are the same either way.
    """
    if features is not None and features.exists():
        _throw_away_if_foreign(features, extractor, photos)
    bags = _fresh_bags(extractor, photos) if features is None else each_bag(extractor, photos, features)
    with closing(bags):
        for photo, bag in bags:
            yield photo, bag if isinstance(bag, PhotoError) else Looked(bag.size, detector.detect(bag, 0.0))


def features_beside(output: Path) -> Path:
    """Where features are kept until the results are written."""
    return output.with_name(f".{output.name}.features")


def _fresh_bags(
    extractor: Extractor, photos: Sequence[PhotoFile]
) -> Generator[tuple[PhotoFile, ProposalBag | PhotoError]]:
    with closing(each_result(extractor, photos)) as results:
        for photo, result in results:
            yield photo, result if isinstance(result, PhotoError) else as_stored(result.bag)


def _throw_away_if_foreign(features: Path, extractor: Extractor, photos: Sequence[PhotoFile]) -> None:
    try:
        require_unchanged(FeatureStore(features, store_header(extractor)), photos)
    except (StoreError, PhotoError):
        shutil.rmtree(features)


def _nested(found: Detections) -> Bools:
    """(n,), which of those above their threshold are a part of a surer thing of their class, or a group around it."""
    nested = np.zeros(len(found), dtype=bool)
    above = np.flatnonzero(found.scores >= FOUND)
    inside = box_coverage(found.boxes[above], found.boxes[above])
    together = np.maximum(inside, inside.T) >= NESTED  # (m, m)
    for place, row in enumerate(above.tolist()):
        surer = above[:place][~nested[above[:place]]]
        same = found.labels[surer] == found.labels[row]
        nested[row] = bool((same & together[place, np.searchsorted(above, surer)]).any())
    return nested
