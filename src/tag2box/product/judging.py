"""How good the boxes of a run, or a list of detections, are: the comparison with true boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any, final

import numpy as np

from tag2box.data import Dataset, DatasetImage, LabelledPhotos
from tag2box.data.formats.coco import read_boxes
from tag2box.data.formats.coco_results import FOUND, read_results
from tag2box.data.partners import find_partners, require_same_size
from tag2box.errors import RunError
from tag2box.evaluation import (
    RULES,
    Matches,
    Pair,
    average_precisions,
    corloc_by_class,
    is_correct,
    macro_mean,
    match_voc,
    pooled_matches,
)
from tag2box.types import Detection, Detections


@final
@dataclass(frozen=True)
class CorLoc:
    """How often the one box of a photo was right."""

    photos: int
    """Photos in which the thing was looked for"""
    value: float
    """Share of them with a right box"""


@final
@dataclass(frozen=True)
class AtThreshold:
    """How good what counts as found is: the detections from the threshold on."""

    precision: float
    """Share of them that are right"""
    recall: float
    """Share of the objects that they find"""


@final
@dataclass(frozen=True)
class Judgement:
    """What was measured, by class; a class without any true object has the value NaN."""

    photos: int
    """Photos that have a truth, and so were judged"""
    corloc: Mapping[str, CorLoc]
    """Empty for detections, which have no one box for a photo"""
    ap50: Mapping[str, Mapping[str, float]]
    """Rule → class → average precision at an overlap of one half"""
    without_truth: int = 0
    """Photos that could not be judged"""
    at_threshold: Mapping[str, AtThreshold] = field(default_factory=dict)
    """Empty for a run, whose boxes all count"""

    @property
    def mean_corloc(self) -> float:
        """Mean over the classes, each counted once."""
        return macro_mean({label: corloc.value for label, corloc in self.corloc.items()})

    @property
    def mean_ap50(self) -> dict[str, float]:
        """Mean over the classes, for each rule."""
        return {rule: macro_mean(by_class) for rule, by_class in self.ap50.items()}

    @property
    def mean_at_threshold(self) -> AtThreshold:
        """Mean over the classes."""
        precision = {label: each.precision for label, each in self.at_threshold.items()}
        recall = {label: each.recall for label, each in self.at_threshold.items()}
        return AtThreshold(macro_mean(precision), macro_mean(recall))

    def as_json(self) -> dict[str, Any]:
        """The same in plain values; NaN, which JSON does not have, is null."""
        found: dict[str, Any] = {"photos": self.photos, "without_truth": self.without_truth}
        if self.corloc:
            by_class = {label: {"photos": c.photos, "value": _number(c.value)} for label, c in self.corloc.items()}
            looked = sum(corloc.photos for corloc in self.corloc.values())
            found["corloc"] = {"mean": _number(self.mean_corloc), "photos": looked, "classes": by_class}
        found["ap50"] = {
            rule: {
                "mean": _number(self.mean_ap50[rule]),
                "classes": {label: _number(value) for label, value in by_class.items()},
            }
            for rule, by_class in self.ap50.items()
        }
        if self.at_threshold:
            mean = self.mean_at_threshold
            found["at_threshold"] = {
                "score": FOUND,
                "mean": _numbers(mean),
                "classes": {label: _numbers(each) for label, each in self.at_threshold.items()},
            }
        return found


def judge_file(path: Path, truth: Dataset) -> Judgement:
    """The judgement on a run, by its folder or its boxes, or on a file of detections."""
    results = None if path.is_dir() else read_results(path)
    return judge_run(read_boxes(path), truth) if results is None else judge_results(results, truth)


def judge_run(labelled: LabelledPhotos, truth: Dataset) -> Judgement:
    """CorLoc and AP50 of a run on those of its photos that have a truth; a less doubtful box ranks before others."""
    _require_classes(labelled.classes, truth)
    images = _partners([photo.name for photo in labelled.photos], truth)
    pairs, right, labels = [], [], []
    for photo in labelled.photos:
        image = images.get(photo.name)
        if image is None:
            continue
        require_same_size(photo.name, photo.size, image)
        ranked = _ranked(Detection(found.label, found.confidence, found.box) for found in photo.boxes)
        pairs.append((ranked, image.truth))
        for label in sorted(set(ranked.labels.tolist())):
            labels.append(label)
            right.append(is_correct(ranked.of_class(label).boxes[0], image.truth, label))
    counts = Counter(labels)
    shares = corloc_by_class(right, labels)
    corloc = {label: CorLoc(counts[label], share) for label, share in shares.items()}
    precisions = _precisions(pairs, labelled.classes)
    return Judgement(len(pairs), corloc, precisions, len(labelled.photos) - len(pairs))


def judge_results(results: Mapping[str, Sequence[Detection]], truth: Dataset) -> Judgement:
    """AP50 of detections by file name, over their whole ranking, and how good those from the threshold on are.

    Photos and classes of the truth that they do not mention are missed; photos that the truth does not have are left
    out.
    """
    _require_classes(sorted({one.label for found in results.values() for one in found}), truth)
    partners = _partners(list(results), truth)
    found = {image.image_id: results[name] for name, image in partners.items()}
    pairs = [(_ranked(found.get(image.image_id, ())), image.truth) for image in truth.images]
    precisions, reached = _precisions(pairs, truth.classes), _at_threshold(pairs, truth.classes)
    return Judgement(len(pairs), {}, precisions, len(results) - len(partners), reached)


def _partners(names: Sequence[str], truth: Dataset) -> dict[str, DatasetImage]:
    """The truth's photo for every name that it has; refused if it has none at all."""
    found = zip(names, find_partners(names, truth), strict=True)
    partners = {name: image for name, image in found if image is not None}
    if names and not partners:
        raise RunError(
            f"the truth has none of the {len(names):,} photos, such as {names[0]!r}.",
            "the truth of at least one of them",
            "give the truth of these photos, under the names of the photos.",
        )
    return partners


def _ranked(found: Iterable[Detection]) -> Detections:
    rows = list(found)
    boxes = np.array([one.box for one in rows], dtype=np.float32).reshape(-1, 4)  # (n, 4)
    return Detections.ranked(boxes, [one.score for one in rows], [one.label for one in rows])


def _precisions(pairs: Sequence[Pair], classes: Iterable[str]) -> dict[str, dict[str, float]]:
    labels = sorted(classes)
    return {rule: average_precisions(pairs, labels, matcher, ap) for rule, (matcher, ap) in RULES.items()}


def _at_threshold(pairs: Sequence[Pair], classes: Iterable[str]) -> dict[str, AtThreshold]:
    found = [(_from_threshold(ranked), truth) for ranked, truth in pairs]
    return {label: _reached(pooled_matches(found, label, match_voc)) for label in sorted(classes)}


def _from_threshold(ranked: Detections) -> Detections:
    rows = ranked.scores >= FOUND
    return Detections(ranked.boxes[rows], ranked.scores[rows], ranked.labels[rows])


def _reached(matches: Matches) -> AtThreshold:
    hits, counted = int(matches.hits.sum()), int((~matches.ignored).sum())
    return AtThreshold(
        hits / counted if counted else float("nan"), hits / matches.truths if matches.truths else float("nan")
    )


def _require_classes(classes: Iterable[str], truth: Dataset) -> None:
    strangers = [label for label in classes if label not in truth.classes]
    if strangers:
        raise RunError(
            f"the truth does not know {', '.join(map(repr, strangers))}.",
            f"classes of the truth: {', '.join(truth.classes)}",
            "give the truth of these photos, with the same names for the classes.",
        )


def _numbers(reached: AtThreshold) -> dict[str, float | None]:
    return {"precision": _number(reached.precision), "recall": _number(reached.recall)}


def _number(value: float) -> float | None:
    return None if isnan(value) else round(value, 6)
