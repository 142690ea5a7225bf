"""Rehearsing a person's use on photos with true boxes: tag a few, localize them, detect in the rest, and judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, DatasetImage, Draws
from tag2box.data.formats.coco_results import FOUND
from tag2box.errors import PoolTooSmallError
from tag2box.evaluation import (
    Interval,
    Pair,
    ap_area,
    average_precisions,
    corloc_by_class,
    is_correct,
    macro_mean,
    match_voc,
    pooled_matches,
    rank_separation,
    t_interval,
)
from tag2box.model import Model
from tag2box.product.detecting import Detector
from tag2box.product.finding import ERROR_RATE, Found, PhotoBox, find_classes, need_a_look
from tag2box.product.learning import Region
from tag2box.progress import Report
from tag2box.store import FeatureStore

CORLOC, TOP, AP50 = "CorLoc in the tagged photos", "the same by objectness alone", "AP50 in the others"
TRUSTED = "right among boxes that need no look"
RANKED = "wrong boxes that are doubted more than right ones"
PRECISION, RECALL = "precision at the threshold", "recall at the threshold"
ALARMS, STRANGE_ALARMS = "photos of classes not taught with an alarm", "strange photos with an alarm"


@final
@dataclass(frozen=True)
class Rehearsal:
    """What a person does, and how often."""

    shots: int
    """Photos of each class that are tagged"""
    draws: int
    drawn: int = 0
    """Of these, photos in which a box is drawn; they are not judged"""


@final
@dataclass(frozen=True)
class Rehearsed:
    """What came of it: shares, over several draws of the tagged photos."""

    figures: Mapping[str, Interval]
    """By name, each with a 95 % interval; a draw that has nothing to say of a figure does not count there"""
    corloc_by_class: Mapping[str, float]
    """Mean over the draws"""


def rehearse(
    dataset: Dataset,
    store: FeatureStore,
    model: Model,
    asked: Rehearsal,
    report: Report,
    strangers: FeatureStore | None = None,
) -> Rehearsed:
    """Draw photos of each class, tag them with all that they show, and ask for the rest; again and again.

    ``strangers`` are photos that show none of the classes.
    """
    outcomes: dict[str, list[float]] = defaultdict(list)
    classes: dict[str, list[float]] = defaultdict(list)
    for number in range(asked.draws):
        tagged = draw_tagged(dataset, asked.shots, number)
        figures, by_class = _outcome(dataset, store, model, tagged, asked.drawn, strangers)
        for name, value in {**figures, **_of_half(dataset, store, model, tagged)}.items():
            if not np.isnan(value):
                outcomes[name].append(value)
        for label, value in by_class.items():
            classes[label].append(value)
        report(number + 1, {})
    return Rehearsed(
        {name: t_interval(values) for name, values in outcomes.items()},
        {label: float(np.mean(values)) for label, values in classes.items()},
    )


def draw_tagged(dataset: Dataset, shots: int, seed: int) -> list[str]:
    """Ids of the photos that a person tags: so many of each class, some of which show other classes too."""
    chosen: list[str] = []
    for label in dataset.classes:
        shown = [image.image_id for image in dataset.images if label in image.tags]
        missing = shots - sum(image in shown for image in chosen)
        left = [image for image in shown if image not in chosen]
        if missing > len(left):
            raise PoolTooSmallError(
                f"{label!r} is in {len(shown)} photos.", f"at least {shots} photos of each class", "ask for fewer."
            )
        chosen += Draws("rehearsal", seed, label).sample(left, max(missing, 0))
    return chosen


def _outcome(
    dataset: Dataset,
    store: FeatureStore,
    model: Model,
    tagged: Sequence[str],
    drawn: int,
    strangers: FeatureStore | None,
) -> tuple[dict[str, float], dict[str, float]]:
    """The figures of one draw, and CorLoc by class."""
    images = {image.image_id: image for image in dataset.images}
    regions = _drawn_regions(dataset.classes, [images[name] for name in tagged], store, drawn)
    found = find_classes({name: images[name].tags for name in tagged}, store, model, regions=regions)
    judged = _judge(found, images, store, regions)
    corloc, top = (corloc_by_class(right, judged.labels) for right in (judged.right, judged.top_is_right))
    detector = Detector(found.known(model.fingerprint, ""), model)
    rest = [image for name, image in images.items() if name not in set(tagged)]
    pairs = [(detector.detect(store.bag(image.image_id), 0.0), image.truth) for image in rest]
    figures = {CORLOC: macro_mean(corloc), TOP: macro_mean(top), **_worth_of_doubt(judged)}
    if rest:
        figures[AP50] = macro_mean(average_precisions(pairs, dataset.classes, match_voc, ap_area))
        figures[PRECISION], figures[RECALL] = _at_threshold(pairs, dataset.classes)
    if strangers is not None:
        figures[STRANGE_ALARMS] = _alarms(detector, strangers, strangers.image_ids)
    return figures, corloc


def _drawn_regions(
    classes: Sequence[str], tagged: Sequence[DatasetImage], store: FeatureStore, drawn: int
) -> dict[str, dict[str, Region]]:
    """Class → photo → the region that a person who draws a box around one of its things would get."""
    regions: dict[str, dict[str, Region]] = {}
    for label in classes:
        for image in [image for image in tagged if label in image.tags][:drawn]:
            true = image.truth.of_class(label).boxes[:1]
            overlaps = box_overlaps(store.bag(image.image_id).boxes, true)[:, 0]
            regions.setdefault(label, {})[image.image_id] = int(overlaps.argmax())
    return regions


class _Judged(NamedTuple):
    """Boxes that were found where nobody drew one, the most doubtful first."""

    boxes: list[PhotoBox]
    right: list[bool]
    top_is_right: list[bool]
    """Whether the region of highest objectness is"""

    @property
    def labels(self) -> list[str]:
        """What each should show."""
        return [each.box.label for each in self.boxes]


def _judge(
    found: Found,
    images: Mapping[str, DatasetImage],
    store: FeatureStore,
    regions: Mapping[str, Mapping[str, Region]],
) -> _Judged:
    judged = _Judged([each for each in found.by_doubt() if each.photo not in regions.get(each.box.label, {})], [], [])
    for each in judged.boxes:
        bag, truth = store.bag(each.photo), images[each.photo].truth
        judged.right.append(is_right(each, images))
        judged.top_is_right.append(is_correct(bag.boxes[bag.objectness.argmax()], truth, each.box.label))
    return judged


def is_right(found: PhotoBox, images: Mapping[str, DatasetImage]) -> bool:
    """Whether a box covers what it should show."""
    return is_correct(np.array(found.box.box, dtype=np.float32), images[found.photo].truth, found.box.label)


def _worth_of_doubt(judged: _Judged) -> dict[str, float]:
    """Whether doubt keeps its promise at the default error rate, and how well it sorts; NaN where nothing says."""
    right, doubts = np.array(judged.right, dtype=np.bool_), np.array([each.box.doubt for each in judged.boxes])
    looked_at = len(need_a_look(judged.boxes, ERROR_RATE))
    trusted = right[looked_at:]
    return {
        TRUSTED: float(trusted.mean()) if len(trusted) else float("nan"),
        RANKED: rank_separation(doubts[~right], doubts[right]),
    }


def _at_threshold(pairs: Sequence[Pair], classes: Collection[str]) -> tuple[float, float]:
    """Precision and recall of what counts as found, over all objects of all classes."""
    found = [(detections[detections.scores >= FOUND], truth) for detections, truth in pairs]
    matches = [pooled_matches(found, label, match_voc) for label in classes]
    hits = sum(int(each.hits.sum()) for each in matches)
    counted, objects = sum(int((~each.ignored).sum()) for each in matches), sum(each.truths for each in matches)
    return hits / max(counted, 1), hits / max(objects, 1)


def _of_half(dataset: Dataset, store: FeatureStore, model: Model, tagged: Sequence[str]) -> dict[str, float]:
    """How often a detector of every second class sees something in photos of the other classes."""
    if len(dataset.classes) < 2:
        return {}
    taught = set(dataset.classes[::2])
    tags = {image.image_id: image.tags & taught for image in dataset.images}
    found = find_classes({name: tags[name] for name in tagged if tags[name]}, store, model)
    detector = Detector(found.known(model.fingerprint, ""), model)
    strange = [image.image_id for image in dataset.images if image.tags and not tags[image.image_id]]
    return {ALARMS: _alarms(detector, store, strange)} if strange else {}


def _alarms(detector: Detector, store: FeatureStore, photos: Sequence[str]) -> float:
    """Share of the photos in which something counts as found."""
    return float(np.mean([len(detector.detect(store.bag(photo))) > 0 for photo in photos]))
