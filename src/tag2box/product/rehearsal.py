"""Rehearsing a person's use on photos with true boxes: tag a few, localize them, detect in the rest, and judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.data import Dataset, Draws
from tag2box.errors import PoolTooSmallError
from tag2box.evaluation import (
    Interval,
    ap_area,
    average_precisions,
    corloc_by_class,
    is_correct,
    macro_mean,
    match_voc,
    t_interval,
)
from tag2box.product.class_file import ClassSet
from tag2box.product.detecting import detect_classes
from tag2box.product.knowledge import Knowledge
from tag2box.product.learning import learn_class
from tag2box.progress import Report
from tag2box.store import FeatureStore


@final
@dataclass(frozen=True)
class Rehearsed:
    """Means over several draws of the tagged photos, each with a 95 % interval."""

    corloc: Interval
    """Share of right boxes in the tagged photos, each class counted once"""
    ap50: Interval
    """Of detections in all other photos"""


def rehearse(
    dataset: Dataset, store: FeatureStore, knowledge: Knowledge, shots: int, draws: int, report: Report
) -> Rehearsed:
    """Draw ``shots`` photos of each class, tag them with all that they show, and ask for the rest; again and again."""
    outcomes = []
    for number in range(draws):
        tagged = draw_tagged(dataset, shots, number)
        outcomes.append(_outcome(dataset, store, knowledge, tagged))
        report(number + 1, {})
    corlocs, precisions = zip(*outcomes, strict=True)
    return Rehearsed(t_interval(corlocs), t_interval(precisions))


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


def _outcome(dataset: Dataset, store: FeatureStore, knowledge: Knowledge, tagged: Sequence[str]) -> tuple[float, float]:
    images = {image.image_id: image for image in dataset.images}
    right, labels, known = [], [], []
    for label in dataset.classes:
        shown = [name for name in tagged if label in images[name].tags]
        learned = learn_class(label, [store.bag(name) for name in shown], knowledge)
        boxes = [learned.box(place).box for place in range(len(shown))]
        right += [
            is_correct(np.array(box, dtype=np.float32), images[name].truth, label)
            for name, box in zip(shown, boxes, strict=True)
        ]
        labels += [label] * len(shown)
        known.append(learned)
    classes = ClassSet.of(knowledge.fingerprint, known)
    rest = [image for name, image in images.items() if name not in set(tagged)]
    pairs = [(detect_classes(store.bag(image.image_id), classes, knowledge, 0.0), image.truth) for image in rest]
    precision = macro_mean(average_precisions(pairs, dataset.classes, match_voc, ap_area))
    return macro_mean(corloc_by_class(right, labels)), precision
