"""Which detections are right: the two rules of the field (docs/method.md, section 11).

A pair is one image of one task: an image that several tasks ask about is evaluated once in each. The detections of a
class are ranked over all images and then judged: within an image the better ones still come first, so the verdicts are
those of the images one by one.

m = images, n = detections of a class, t = its objects, p = pairs of a detection and an object that overlap enough
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, Bools, Float32s, Ints
from tag2box.boxes import paired_coverage, paired_overlaps
from tag2box.types import Detections, Truth

MIN_OVERLAP = 0.5

Pair = tuple[Detections, Truth]


@final
@dataclass(frozen=True, eq=False)
class Ranking:
    """One class in all images: its detections, best first, and its objects, image by image.

    Equal scores keep the order of the images, and within an image their own.
    """

    scores: Array
    """(n,)"""
    boxes: Float32s
    """(n, 4)"""
    images: Ints
    """(n,), number of the image of each detection"""
    objects: Float32s
    """(t, 4)"""
    first: Ints
    """(m + 1,), the objects of image i are those from ``first[i]`` to below ``first[i + 1]``"""
    ignore: Bools
    """(t,)"""
    crowd: Bools
    """(t,)"""


@final
@dataclass(frozen=True, eq=False)
class Matches:
    """Detections of one class, best first, with their verdicts, and the number of objects to be found."""

    scores: Array
    """(n,)"""
    hits: Bools
    """(n,)"""
    ignored: Bools
    """(n,), neither right nor wrong"""
    truths: int


Matcher = Callable[[Ranking, float], Matches]
"""``match_voc`` or ``match_coco``."""


def match_voc(ranking: Ranking, min_overlap: float = MIN_OVERLAP) -> Matches:
    """PASCAL's rule: a detection goes to the object it overlaps most, and is wrong if that one is taken already."""
    pairs = _touching(ranking, _overlaps, min_overlap)
    order = np.lexsort((pairs.objects, -pairs.overlaps, pairs.rows))  # (p,)
    rows, places = np.unique(pairs.rows[order], return_index=True)
    objects = pairs.objects[order][places]  # where each of the rows goes
    _, first = np.unique(objects, return_index=True)  # of all that go to an object, the best
    hits, ignored = np.zeros(len(ranking.scores), dtype=bool), np.zeros(len(ranking.scores), dtype=bool)
    ignored[rows] = ranking.ignore[objects]
    hits[rows[first]] = ~ranking.ignore[objects[first]]
    return Matches(ranking.scores, hits, ignored, int((~ranking.ignore).sum()))


def match_coco(ranking: Ranking, min_overlap: float = MIN_OVERLAP) -> Matches:
    """COCO's rule: a detection goes to the best object that is still free; an ignored one only if no other is left.

    A crowd is never taken, and overlaps a detection by the share of the detection that lies in it. Of objects that a
    detection overlaps alike, the last is the best, as in COCO's own tool.
    """
    pairs = _touching(ranking, _overlaps_or_shares, min_overlap)
    order = np.lexsort((-pairs.objects, -pairs.overlaps, ranking.ignore[pairs.objects], pairs.rows))  # (p,)
    crowd, goes_to, taken = ranking.crowd.tolist(), dict[int, int](), set[int]()
    for row, thing in zip(pairs.rows[order].tolist(), pairs.objects[order].tolist(), strict=True):
        if row not in goes_to and thing not in taken:
            goes_to[row] = thing
            if not crowd[thing]:
                taken.add(thing)
    rows, objects = np.array(list(goes_to), dtype=np.int64), np.array(list(goes_to.values()), dtype=np.int64)
    hits, ignored = np.zeros(len(ranking.scores), dtype=bool), np.zeros(len(ranking.scores), dtype=bool)
    hits[rows], ignored[rows] = ~ranking.ignore[objects], ranking.ignore[objects]
    return Matches(ranking.scores, hits, ignored, int((~ranking.ignore).sum()))


def rank_classes(pairs: Sequence[Pair], classes: Iterable[str]) -> dict[str, Ranking]:
    """The ranking of each class; all images are sorted at once, by class and score."""
    names = list(dict.fromkeys(classes))
    found, truths = [detections for detections, _ in pairs], [truth for _, truth in pairs]
    scores = np.concatenate([np.zeros(0), *(one.scores for one in found)])
    flags = [
        np.concatenate([np.zeros(0, dtype=bool), *(getattr(truth, flag) for truth in truths)])
        for flag in ("ignore", "crowd")
    ]
    detections = _by_class(found, names, -scores, scores)
    objects = _by_class(truths, names, np.zeros(len(flags[0])), *flags)
    return {
        name: Ranking(scores, boxes, images, true_boxes, _edges(true_images, len(pairs)), ignore, crowd)
        for name, (boxes, images, scores), (true_boxes, true_images, ignore, crowd) in zip(
            names, detections, objects, strict=True
        )
    }


def pooled_matches(pairs: Iterable[Pair], label: str, matcher: Matcher, min_overlap: float = MIN_OVERLAP) -> Matches:
    """Verdicts on all detections of one class, ranked over all images."""
    return matcher(rank_classes(list(pairs), [label])[label], min_overlap)


def pool_matches(parts: Iterable[Matches]) -> Matches:
    """All images of one class, ranked together; equal scores keep the order of the images."""
    images = list(parts)
    if not images:
        return Matches(np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0, dtype=bool), 0)
    scores = np.concatenate([image.scores for image in images])
    order = np.argsort(-scores, kind="stable")
    hits = np.concatenate([image.hits for image in images])[order]
    ignored = np.concatenate([image.ignored for image in images])[order]
    return Matches(scores[order], hits, ignored, sum(image.truths for image in images))


class _Pairs(NamedTuple):
    """A detection and an object of its image that overlap enough, p times: by detection, then by object."""

    rows: Ints
    """(p,), of the detections"""
    objects: Ints
    """(p,)"""
    overlaps: Array
    """(p,)"""


def _touching(ranking: Ranking, overlaps: Callable[[Ranking, Ints, Ints], Array], min_overlap: float) -> _Pairs:
    counts = np.diff(ranking.first)[ranking.images]  # (n,), objects in the image of each detection
    rows = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts  # (n,)
    objects = np.arange(len(rows)) + np.repeat(ranking.first[ranking.images] - before, counts)
    found = overlaps(ranking, rows, objects)
    enough = found >= min_overlap
    return _Pairs(rows[enough], objects[enough], found[enough])


def _overlaps(ranking: Ranking, rows: Ints, objects: Ints) -> Array:
    return paired_overlaps(ranking.boxes[rows], ranking.objects[objects])


def _overlaps_or_shares(ranking: Ranking, rows: Ints, objects: Ints) -> Array:
    """With a crowd, the share of the detection that lies in it."""
    shares = paired_coverage(ranking.boxes[rows], ranking.objects[objects])
    return np.where(ranking.crowd[objects], shares, _overlaps(ranking, rows, objects))


def _by_class(
    images: Sequence[Detections] | Sequence[Truth], names: Sequence[str], order: Array, *columns: npt.NDArray[Any]
) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """For each class its boxes, the numbers of their images and the columns; the lowest in ``order`` first."""
    numbers = {name: number for number, name in enumerate(names)}
    classes = np.array([numbers.get(label, -1) for image in images for label in image.labels.tolist()], dtype=np.int64)
    owners = np.repeat(np.arange(len(images)), np.array([len(image) for image in images], dtype=np.int64))
    boxes = np.concatenate([np.zeros((0, 4), dtype=np.float32), *(image.boxes for image in images)])
    sorted_rows = np.lexsort((order, classes))
    for start, end in pairwise(_edges(classes[sorted_rows], len(names)).tolist()):
        rows = sorted_rows[start:end]
        yield tuple(column[rows] for column in (boxes, owners, *columns))


def _edges(numbers: Ints, count: int) -> Ints:
    """(count + 1,), where each number from 0 on begins among sorted ones, and where the last ends."""
    return np.searchsorted(numbers, np.arange(count + 1))
