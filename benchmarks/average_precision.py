"""Average precision of all images at once, against matching image by image and class by class.

Checks first that both give the same numbers, then measures both in turn and prints the ratio of the medians. The slow
version is the tests' own: ``PYTHONPATH=src:tests python benchmarks/average_precision.py``.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from oracles import slow_match_coco, slow_match_voc, slow_pooled_matches
from tag2box.evaluation import RULES, Pair, average_precisions
from tag2box.types import Detections, Truth

SLOW = {"voc_11_points": slow_match_voc, "voc_area": slow_match_voc, "coco_101_points": slow_match_coco}
OBJECTS, DETECTIONS = 7, 100
"""Of an image: objects as in COCO, detections as its rules allow."""
SIDE = 500.0
SAME = 1e-10

Precisions = dict[str, float]


def plant(images: int, classes: Sequence[str]) -> list[Pair]:
    """Images with objects, and detections of which half are near one."""
    rng = np.random.default_rng(0)
    pairs = []
    for image in range(images):
        corners = rng.uniform(0, SIDE - 100, size=(OBJECTS, 2))
        boxes = np.concatenate([corners, corners + rng.uniform(20, 100, size=(OBJECTS, 2))], axis=1)
        labels, flags = rng.choice(classes, size=OBJECTS), rng.uniform(size=(2, OBJECTS)) < 0.05
        truth = Truth(str(image), boxes, labels, *flags)
        near = rng.integers(0, OBJECTS, size=DETECTIONS)
        moved = boxes[near] + rng.normal(scale=6.0, size=(DETECTIONS, 4))
        found = np.sort(moved.reshape(-1, 2, 2), axis=1).reshape(-1, 4)
        names = np.where(rng.uniform(size=DETECTIONS) < 0.5, labels[near], rng.choice(classes, size=DETECTIONS))
        pairs.append((Detections.ranked(found, rng.uniform(size=DETECTIONS).round(2), names), truth))
    return pairs


def at_once(pairs: Sequence[Pair], classes: Sequence[str], rule: str) -> Precisions:
    """As the package does it."""
    return average_precisions(pairs, classes, *RULES[rule])


def one_by_one(pairs: Sequence[Pair], classes: Sequence[str], rule: str) -> Precisions:
    """Each class of each image on its own."""
    return {label: RULES[rule].average(slow_pooled_matches(pairs, label, SLOW[rule])) for label in classes}


def seconds(work: Callable[..., Precisions], pairs: Sequence[Pair], classes: Sequence[str], rule: str) -> float:
    """Time of one run."""
    started = time.perf_counter()
    work(pairs, classes, rule)
    return time.perf_counter() - started


def main() -> None:
    """Compare answers, then times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--classes", type=int, default=80)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    classes = [f"class {number}" for number in range(arguments.classes)]
    pairs = plant(arguments.images, classes)
    print(f"{arguments.images:,} images of {DETECTIONS} detections, {arguments.classes} classes")
    for rule in RULES:
        fast, slow = (np.array(list(work(pairs, classes, rule).values())) for work in (at_once, one_by_one))
        if not np.allclose(fast, slow, rtol=0.0, atol=SAME, equal_nan=True):
            raise SystemExit(f"{rule}: the answers differ by up to {np.nanmax(np.abs(fast - slow)):.2g}")
        times = [[seconds(work, pairs, classes, rule) for work in (at_once, one_by_one)] for _ in range(arguments.runs)]
        first, second = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"{rule}: same numbers; all at once {first:.2f} s, {second / first:.0f} times as fast as one by one")


if __name__ == "__main__":
    main()
