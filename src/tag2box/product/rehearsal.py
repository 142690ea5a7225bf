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
from tag2box.model import Model
from tag2box.product.detecting import Detector
from tag2box.product.finding import find_classes
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


def rehearse(dataset: Dataset, store: FeatureStore, model: Model, shots: int, draws: int, report: Report) -> Rehearsed:
    """Draw ``shots`` photos of each class, tag them with all that they show, and ask for the rest; again and again."""
    outcomes = []
    for number in range(draws):
        tagged = draw_tagged(dataset, shots, number)
        outcomes.append(_outcome(dataset, store, model, tagged))
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


def _outcome(dataset: Dataset, store: FeatureStore, model: Model, tagged: Sequence[str]) -> tuple[float, float]:
    images = {image.image_id: image for image in dataset.images}
    found = find_classes({name: images[name].tags for name in tagged}, store, model)
    right, labels = [], []
    for each in found.by_doubt():
        labels.append(each.box.label)
        box = np.array(each.box.box, dtype=np.float32)
        right.append(is_correct(box, images[each.photo].truth, each.box.label))
    detector = Detector(found.known(model.fingerprint, ""), model)
    rest = [image for name, image in images.items() if name not in set(tagged)]
    pairs = [(detector.detect(store.bag(image.image_id), 0.0), image.truth) for image in rest]
    precision = macro_mean(average_precisions(pairs, dataset.classes, match_voc, ap_area))
    return macro_mean(corloc_by_class(right, labels)), precision
