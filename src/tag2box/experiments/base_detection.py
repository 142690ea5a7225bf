"""How well the base detector detects its own classes: the sanity check of every training run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tag2box.boxes import suppress_overlaps
from tag2box.data import DatasetImage
from tag2box.evaluation import ap_101_points, average_precisions, macro_mean, match_coco
from tag2box.extract import TwoGraphs
from tag2box.methods.detectors.query import MAX_OVERLAP
from tag2box.progress import Report
from tag2box.types import Detections, Truth

LEAST_PROBABILITY = 0.02


def base_average_precision(extractor: TwoGraphs, images: Sequence[DatasetImage], report: Report) -> float:
    """Mean AP50 (COCO's 101 points) of the classes that the model was trained on."""
    classes = tuple(extractor.card.trained_on["classes"])
    pairs: list[tuple[Detections, Truth]] = []
    for done, image in enumerate(images, 1):
        pairs.append((_detect(extractor, image, classes), image.truth))
        report(done, {})
    return macro_mean(average_precisions(pairs, classes, match_coco, ap_101_points))


def _detect(extractor: TwoGraphs, image: DatasetImage, classes: tuple[str, ...]) -> Detections:
    """Every region scored by its class times the overlap that it is believed to have."""
    seen = extractor.see_file(image.path)
    bag = extractor.bag(seen, image.image_id)
    probabilities = extractor.describe(seen, bag.boxes).classes[:, :-1].astype(np.float64)
    per_class = []
    for place, label in enumerate(classes):
        likely = np.flatnonzero(probabilities[:, place] > LEAST_PROBABILITY)
        scores = probabilities[likely, place] * bag.objectness[likely]
        rows = suppress_overlaps(bag.boxes[likely], scores, MAX_OVERLAP)
        per_class.append(Detections(bag.boxes[likely[rows]], scores[rows], np.full(len(rows), label)))
    return Detections.joined(per_class)
