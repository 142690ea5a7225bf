"""How well the features of an extractor tell objects from background by one direction, as the paper's method asks.

The direction is the mean of background regions in one half of the photos; it is judged on the other half.

n = regions of a photo, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, Bools
from tag2box.boxes import box_overlaps
from tag2box.data import DatasetImage
from tag2box.errors import PoolTooSmallError
from tag2box.evaluation import Interval, jackknife_interval, rank_separation, without_each_group
from tag2box.experiments.features import unit_parts
from tag2box.extract import Card
from tag2box.progress import Report
from tag2box.store import FeatureStore

IS_OBJECT, IS_NOTHING = 0.5, 0.1
"""Overlaps from which on a region shows an object, and below which, with every labelled one, it shows none."""


class Regions(NamedTuple):
    """The regions of a photo, without the whole of it."""

    features: Array
    """(n, d)"""
    on_object: Bools
    """(n,), of the classes that are asked about"""
    on_nothing: Bools
    """(n,)"""


def kinds_of_regions(
    store: FeatureStore, images: Sequence[DatasetImage], classes: Collection[str], report: Report
) -> list[Regions]:
    """What the regions of photos show, whose objects are all labelled."""
    found = []
    for done, image in enumerate(images, 1):
        bag, truth = store.bag(image.image_id), image.truth
        overlaps = box_overlaps(bag.boxes[1:], truth.boxes)  # (n, t)
        asked = np.isin(truth.labels, list(classes)) & ~truth.ignore
        on_object = overlaps[:, asked].max(axis=1, initial=0.0) >= IS_OBJECT
        found.append(
            Regions(bag.features[1:].astype(np.float64), on_object, overlaps.max(axis=1, initial=0.0) < IS_NOTHING)
        )
        report(done, {})
    return found


def separations(regions: Sequence[Regions], card: Card) -> dict[str, Interval]:
    """Area under the ROC curve of minus the cosine with the mean of background, for features and for their parts."""
    fitted, judged = regions[::2], regions[1::2]
    if not any(some.on_nothing.any() for some in fitted) or not any(some.on_object.any() for some in judged):
        raise PoolTooSmallError(
            f"{len(regions)} photos have no regions of both kinds.", "objects, and regions beside them", "give more."
        )
    means = {
        name: rows.mean(axis=0)
        for name, rows in unit_parts(np.concatenate([some.features[some.on_nothing] for some in fitted]), card).items()
    }
    parts = [unit_parts(some.features, card) for some in judged]
    return {name: _interval(judged, [-(of_photo[name] @ mean) for of_photo in parts]) for name, mean in means.items()}


def _interval(judged: Sequence[Regions], scores: Sequence[Array]) -> Interval:
    def among(places: npt.NDArray[np.int64]) -> float:
        high = [scores[place][judged[place].on_object] for place in places]
        low = [scores[place][judged[place].on_nothing] for place in places]
        return rank_separation(np.concatenate(high), np.concatenate(low))

    value = among(np.arange(len(judged)))
    return jackknife_interval(value, without_each_group(among, len(judged)), len(judged))
