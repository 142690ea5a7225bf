"""How good the boxes of a run, or a list of detections, are: the comparison with true boxes."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any, final

import numpy as np

from tag2box.data import Dataset
from tag2box.errors import RunError, reason_of
from tag2box.evaluation import RULES, Pair, average_precisions, corloc_by_class, is_correct, macro_mean
from tag2box.product.labelled import LabelledPhotos, read_boxes
from tag2box.product.partners import find_partners, require_same_size
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
class Judgement:
    """What was measured, by class; a class without any true object has the value NaN."""

    photos: int
    corloc: Mapping[str, CorLoc]
    """Empty for detections, which have no one box for a photo"""
    ap50: Mapping[str, Mapping[str, float]]
    """Rule → class → average precision at an overlap of one half"""

    @property
    def mean_corloc(self) -> float:
        """Mean over the classes, each counted once."""
        return macro_mean({label: corloc.value for label, corloc in self.corloc.items()})

    @property
    def mean_ap50(self) -> dict[str, float]:
        """Mean over the classes, for each rule."""
        return {rule: macro_mean(by_class) for rule, by_class in self.ap50.items()}

    def as_json(self) -> dict[str, Any]:
        """The same in plain values; NaN, which JSON does not have, is null."""
        found: dict[str, Any] = {"photos": self.photos}
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
        return found


def judge_file(path: Path, truth: Dataset) -> Judgement:
    """The judgement on a run, by its folder or its boxes, or on a file of detections."""
    results = None if path.is_dir() else _read_results(path)
    return judge_run(read_boxes(path), truth) if results is None else judge_results(results, truth)


def judge_run(labelled: LabelledPhotos, truth: Dataset) -> Judgement:
    """CorLoc and AP50 of a run on its own photos; a box that is less doubtful ranks before others."""
    _require_classes(labelled.classes, truth)
    images = find_partners([photo.name for photo in labelled.photos], truth)
    pairs, right, labels = [], [], []
    for photo, image in zip(labelled.photos, images, strict=True):
        require_same_size(photo.name, (photo.height, photo.width), image)
        ranked = _ranked(Detection(found.label, 1.0 - found.doubt, found.box) for found in photo.boxes)
        pairs.append((ranked, image.truth))
        for label in sorted(set(ranked.labels.tolist())):
            labels.append(label)
            right.append(is_correct(ranked.of_class(label).boxes[0], image.truth, label))
    counts = Counter(labels)
    shares = corloc_by_class(right, labels)
    corloc = {label: CorLoc(counts[label], share) for label, share in shares.items()}
    return Judgement(len(pairs), corloc, _precisions(pairs, labelled.classes))


def judge_results(results: Mapping[str, Sequence[Detection]], truth: Dataset) -> Judgement:
    """AP50 of detections by file name; photos and classes of the truth that they do not mention are missed."""
    _require_classes(sorted({one.label for found in results.values() for one in found}), truth)
    partners = find_partners(list(results), truth)
    found = {image.image_id: results[name] for name, image in zip(results, partners, strict=True)}
    pairs = [(_ranked(found.get(image.image_id, ())), image.truth) for image in truth.images]
    return Judgement(len(pairs), {}, _precisions(pairs, truth.classes))


def _read_results(path: Path) -> dict[str, list[Detection]] | None:
    """Detections by file name; None if the file holds something else than a list."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, list):
            return None
        found = defaultdict(list)
        for entry in content:
            x, y, width, height = (float(value) for value in entry["bbox"])
            one = Detection(str(entry["category_name"]), float(entry["score"]), (x, y, x + width, y + height))
            found[str(entry["file_name"])].append(one)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(
            f"{path} cannot be read as boxes or detections: {reason_of(error)}.",
            "a folder that tag2box localize wrote, or a file of tag2box detect with file_name, category_name, bbox "
            "and score for every detection",
            "check the path.",
        ) from error
    return dict(found)


def _ranked(found: Iterable[Detection]) -> Detections:
    rows = list(found)
    boxes = np.array([one.box for one in rows], dtype=np.float32).reshape(-1, 4)  # (n, 4)
    return Detections.ranked(boxes, [one.score for one in rows], [one.label for one in rows])


def _precisions(pairs: Sequence[Pair], classes: Iterable[str]) -> dict[str, dict[str, float]]:
    labels = sorted(classes)
    return {rule: average_precisions(pairs, labels, matcher, ap) for rule, (matcher, ap) in RULES.items()}


def _require_classes(classes: Iterable[str], truth: Dataset) -> None:
    strangers = [label for label in classes if label not in truth.classes]
    if strangers:
        raise RunError(
            f"the truth does not know {', '.join(map(repr, strangers))}.",
            f"classes of the truth: {', '.join(truth.classes)}",
            "give the truth of these photos, with the same names for the classes.",
        )


def _number(value: float) -> float | None:
    return None if isnan(value) else round(value, 6)
