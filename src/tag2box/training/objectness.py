"""Fitting the objectness of an extractor on base objects (docs/method.md, section 12).

n = regions
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, DatasetImage, Draws, labels_all
from tag2box.errors import TrainingError
from tag2box.extract import CARD_NAME, Objectness, TwoGraphs, open_extractor, write_card
from tag2box.progress import Report
from tag2box.training.logistic import balanced, fit_logistic

PHOTOS = 200
"""More would change the weights by less than their error."""
IS_OBJECT = 0.5


def fit_objectness(extractor: TwoGraphs, images: Sequence[DatasetImage], report: Report) -> Objectness:
    """The objectness under which regions on an object, and regions that are not, are likeliest; both weigh the same.

    The images must show labelled objects only: what nobody labelled would pass for background.
    """
    signals, labels = [], []
    for done, image in enumerate(images, 1):
        seen = extractor.see_file(image.path)
        candidates = extractor.proposer.candidates(seen)
        regions = extractor.proposer.regions(seen, candidates)
        objects = image.truth.boxes / seen.scale
        signals.append(extractor.proposer.signals(seen, candidates, regions))
        labels.append(box_overlaps(regions, objects).max(axis=1, initial=0.0) >= IS_OBJECT)
        report(done, {})
    on_object = np.concatenate(labels) if labels else np.zeros(0, dtype=bool)
    if on_object.all() or not on_object.any():
        raise TrainingError(
            f"{int(on_object.sum())} of {len(on_object)} regions in {len(images)} photos are on an object.",
            "photos with regions on base objects and regions beside them",
            "give more photos, or train longer.",
        )
    return Objectness(*fit_logistic(np.concatenate(signals), on_object, balanced(on_object)))


def calibrate(model: Path, datasets: Sequence[Dataset], report: Report, seed: int = 0) -> None:
    """Fit the objectness of a model and write it into its card."""
    extractor = open_extractor(model)
    images = clean_images(datasets, extractor.card.trained_on["classes"])
    drawn = Draws(seed, "objectness").sample(images, min(PHOTOS, len(images)))
    fitted = fit_objectness(extractor, drawn, report)
    write_card(model / CARD_NAME, replace(extractor.card, objectness=fitted))


def clean_images(datasets: Sequence[Dataset], classes: Collection[str]) -> list[DatasetImage]:
    """Images that show objects of ``classes`` and no others, in datasets that label all of these that any does."""
    whole = [dataset.showing_only(classes) for dataset in datasets if labels_all(dataset, datasets, classes)]
    return [image for dataset in whole for image in dataset.images if image.tags]
