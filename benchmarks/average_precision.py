"""Average precision of all images at once, against pycocotools and against matching image by image.

    PYTHONPATH=tests python benchmarks/average_precision.py [--images N] [--classes N]

The answers are compared first, to ten digits. pycocotools is asked for what we compute and nothing more: one overlap,
all sizes, a hundred detections; reading its files does not count. The slow version, whose answers must be the same too,
is the tests' own, on fewer images.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from measuring import Finding, compare
from oracles import slow_match_coco, slow_match_voc, slow_pooled_matches
from tag2box.arrays import Array
from tag2box.evaluation import RULES, Pair, average_precisions
from tag2box.types import Detections, Truth

SLOW = {"voc_11_points": slow_match_voc, "voc_area": slow_match_voc, "coco_101_points": slow_match_coco}
OBJECTS, DETECTIONS = 7, 100
"""Of an image: objects as in COCO, detections as its rules allow."""
SIDE = 500.0
SAME = 1e-10
FEW_IMAGES = 10
"""Share of the images, one in so many, that the slow version is asked about."""


def plant(images: int, classes: Sequence[str]) -> list[Pair]:
    """Images with objects, some of them crowds, and detections of which half are near one."""
    rng = np.random.default_rng(0)
    pairs = []
    for image in range(images):
        corners = rng.uniform(0, SIDE - 100, size=(OBJECTS, 2))
        boxes = np.concatenate([corners, corners + rng.uniform(20, 100, size=(OBJECTS, 2))], axis=1).astype(np.float32)
        labels, crowd = rng.choice(classes, size=OBJECTS), rng.uniform(size=OBJECTS) < 0.05
        truth = Truth(str(image), boxes, labels, crowd, crowd)
        near = rng.integers(0, OBJECTS, size=DETECTIONS)
        moved = boxes[near] + rng.normal(scale=6.0, size=(DETECTIONS, 4))
        found = np.sort(moved.reshape(-1, 2, 2), axis=1).reshape(-1, 4)
        names = np.where(rng.uniform(size=DETECTIONS) < 0.5, labels[near], rng.choice(classes, size=DETECTIONS))
        pairs.append((Detections.ranked(found, rng.uniform(size=DETECTIONS).round(2), names), truth))
    return pairs


def at_once(pairs: Sequence[Pair], classes: Sequence[str], rule: str) -> Array:
    """As the package does it."""
    return np.array(list(average_precisions(pairs, classes, *RULES[rule]).values()))


def one_by_one(pairs: Sequence[Pair], classes: Sequence[str], rule: str) -> Array:
    """Each class of each image on its own."""
    return np.array([RULES[rule].average(slow_pooled_matches(pairs, label, SLOW[rule])) for label in classes])


def by_pycocotools(pairs: Sequence[Pair], classes: Sequence[str]) -> Callable[[], Array]:
    """COCO's own tool, with everything read."""
    numbers = {label: number for number, label in enumerate(classes, 1)}
    truths, found = list[dict[str, Any]](), list[dict[str, Any]]()
    for image, (detections, truth) in enumerate(pairs, 1):
        for box, label, crowd in zip(truth.boxes, truth.labels, truth.crowd, strict=True):
            entry = _entry(image, numbers[str(label)], box)
            truths.append({**entry, "id": len(truths) + 1, "iscrowd": int(crowd)})
        for box, label, score in zip(detections.boxes, detections.labels, detections.scores, strict=True):
            found.append({**_entry(image, numbers[str(label)], box), "score": float(score)})
    with contextlib.redirect_stdout(io.StringIO()):
        truth_file = COCO()
        truth_file.dataset = {
            "info": {},
            "images": [{"id": image} for image in range(1, len(pairs) + 1)],
            "annotations": truths,
            "categories": [{"id": number, "name": label} for label, number in numbers.items()],
        }
        truth_file.createIndex()
        results = truth_file.loadRes(found)

    def evaluate() -> Array:
        with contextlib.redirect_stdout(io.StringIO()):
            judge = COCOeval(truth_file, results, "bbox")
            judge.params.iouThrs, judge.params.maxDets = np.array([0.5]), [DETECTIONS]
            judge.params.areaRng, judge.params.areaRngLbl = [[0, 1e10]], ["all"]
            judge.evaluate()
            judge.accumulate()
        precisions: Array = judge.eval["precision"][0, :, :, 0, 0].mean(axis=0)
        return precisions

    return evaluate


def _entry(image: int, category: int, box: Array) -> dict[str, Any]:
    x0, y0, x1, y1 = (float(edge) for edge in box)
    sides = [x0, y0, x1 - x0, y1 - y0]
    return {"image_id": image, "category_id": category, "bbox": sides, "area": sides[2] * sides[3]}


def require_same(name: str, ours: Array, other: Array) -> None:
    """End here if the answers differ."""
    if not np.allclose(ours, other, rtol=0.0, atol=SAME, equal_nan=True):
        raise SystemExit(f"{name}: the answers differ by up to {np.nanmax(np.abs(ours - other)):.2g}")


def findings(runs: int, images: int = 5000, count: int = 80) -> Iterator[Finding]:
    """Compare answers, then times: with pycocotools on all images, with the slow version on some."""
    classes = [f"class {number}" for number in range(count)]
    pairs = plant(images, classes)
    theirs = by_pycocotools(pairs, classes)
    require_same("pycocotools", at_once(pairs, classes, "coco_101_points"), theirs())
    size = f"{images:,} images × {count} classes × {DETECTIONS} detections"
    claim = f"average precision of {size} against pycocotools at an overlap of 0.5"
    yield compare(claim, lambda: at_once(pairs, classes, "coco_101_points"), theirs, min(runs, 3), "ten digits equal")
    few = pairs[: max(1, images // FEW_IMAGES)]
    for rule in RULES:
        require_same(rule, at_once(few, classes, rule), one_by_one(few, classes, rule))


def main() -> None:
    """Print what is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--classes", type=int, default=80)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    for found in findings(arguments.runs, arguments.images, arguments.classes):
        print(found, flush=True)


if __name__ == "__main__":
    main()
