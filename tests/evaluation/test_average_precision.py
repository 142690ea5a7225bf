"""Average precision against pycocotools and slow versions; over drawn tasks, against pooling what was drawn."""

from __future__ import annotations

import contextlib
import io
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from samples import random_boxes
from tag2box.arrays import Array
from tag2box.boxes import box_overlaps
from tag2box.evaluation import (
    Matches,
    Pair,
    TaskMatches,
    ap_11_points,
    ap_101_points,
    ap_area,
    average_precisions,
    macro_mean,
    match_coco,
    match_voc,
    mean_average_precision,
    pool_matches,
    precision_recall,
)
from tag2box.types import Detections, Truth

seeds = st.integers(0, 2**32 - 1)
CLASSES = ("cat", "dog")


def random_pairs(seed: int, images: int = 6, *, crowds: bool = False) -> list[Pair]:
    """Images with some objects, some ignored, and detections near them or not; scores with ties."""
    rng = np.random.default_rng(seed)
    pairs = []
    for image in range(images):
        count = int(rng.integers(0, 5))
        truth_boxes = random_boxes(rng, count)
        labels, flags = rng.choice(CLASSES, size=count), rng.uniform(size=count) < 0.25
        none = np.zeros(count, dtype=bool)
        ignore, crowd = (none, flags) if crowds else (flags, none)
        truth = Truth(str(image), truth_boxes.astype(np.float32), labels, ignore, crowd)
        near = np.clip(np.repeat(truth_boxes, 3, axis=0) + rng.uniform(-6, 6, size=(3 * count, 4)), 0, 100)
        near[:, 2:] = np.maximum(near[:, 2:], near[:, :2])
        boxes = np.concatenate([near, random_boxes(rng, 4)])
        scores = rng.integers(0, 12, size=len(boxes)) / 4.0
        pairs.append((Detections.ranked(boxes, scores, rng.choice(CLASSES, size=len(boxes))), truth))
    return pairs


def pycocotools_ap(pairs: list[Pair], label: str, restore_ignore: bool) -> float:
    """AP50 of one class as COCO's own tool computes it; -1 means that there is nothing to find."""
    category = CLASSES.index(label) + 1
    annotations: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for image, (found, truth) in enumerate(pairs):
        objects = truth.of_class(label)
        columns = [array.tolist() for array in (objects.boxes, objects.ignore, objects.crowd)]
        for box, ignored, crowd in zip(*columns, strict=True):
            size = [box[0], box[1], box[2] - box[0], box[3] - box[1]]
            annotations.append(
                {"id": len(annotations) + 1, "image_id": image, "category_id": category, "bbox": size}
                | {"area": size[2] * size[3], "iscrowd": int(crowd), "ignore": int(ignored)}
            )
        for _, score, box in found.of_class(label):
            size = [box[0], box[1], box[2] - box[0], box[3] - box[1]]
            results.append({"image_id": image, "category_id": category, "bbox": size, "score": score})
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {
            "info": {},
            "images": [{"id": image} for image in range(len(pairs))],
            "annotations": annotations,
            "categories": [{"id": category, "name": label}],
        }
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(results), "bbox")
        evaluation.params.iouThrs = np.array([0.5])
        if restore_ignore:
            _ignore_by_flag(evaluation)
        evaluation.evaluate()
        evaluation.accumulate()
    return float(np.mean(evaluation.eval["precision"][0, :, 0, 0, -1]))


def _ignore_by_flag(evaluation: Any) -> None:
    """COCO's tool overwrites ``ignore`` with ``iscrowd``; put the flags back where it has just done so."""
    flags = {ann["id"]: ann["ignore"] for ann in evaluation.cocoGt.dataset["annotations"]}
    prepare = evaluation._prepare

    def prepare_and_restore() -> None:
        prepare()
        for objects in evaluation._gts.values():
            for ann in objects:
                ann["ignore"] = flags[ann["id"]]

    evaluation._prepare = prepare_and_restore


@given(seeds)
@settings(max_examples=40)
def test_101_points_agree_with_pycocotools(seed: int) -> None:
    """Without crowds its ignore flags are restored; with crowds it runs as it is."""
    for crowds in (False, True):
        _assert_like_pycocotools(random_pairs(seed, crowds=crowds), restore_ignore=not crowds)


def _assert_like_pycocotools(pairs: list[Pair], restore_ignore: bool) -> None:
    found = average_precisions(pairs, CLASSES, match_coco, ap_101_points)
    for label in CLASSES:
        expected = pycocotools_ap(pairs, label, restore_ignore)
        assert (-1.0 if np.isnan(found[label]) else found[label]) == pytest.approx(expected, abs=1e-12)


def slow_voc_verdicts(pairs: list[Pair], label: str) -> tuple[list[str], int]:
    """PASCAL's devkit, as its text says it: pooled detections in order of score, one at a time."""
    pooled = [
        (score, image, np.array(box, np.float32))
        for image, (found, _) in enumerate(pairs)
        for _, score, box in found.of_class(label)
    ]
    pooled.sort(key=lambda item: -item[0])
    taken: set[tuple[int, int]] = set()
    verdicts = []
    for _, image, box in pooled:
        objects = pairs[image][1].of_class(label)
        overlaps = [float(box_overlaps(box[None], other[None])[0, 0]) for other in objects.boxes]
        best = int(np.argmax(overlaps)) if overlaps else -1
        if best < 0 or overlaps[best] < 0.5:
            verdicts.append("wrong")
        elif objects.ignore[best]:
            verdicts.append("ignored")
        elif (image, best) in taken:
            verdicts.append("wrong")
        else:
            verdicts.append("right")
            taken.add((image, best))
    return verdicts, sum(int((~truth.of_class(label).ignore).sum()) for _, truth in pairs)


def slow_curve(verdicts: list[str], truths: int) -> list[tuple[float, float]]:
    """(recall, precision) after each detection that counts."""
    right = wrong = 0
    curve = []
    for verdict in verdicts:
        right, wrong = right + (verdict == "right"), wrong + (verdict == "wrong")
        if verdict != "ignored":
            curve.append((right / truths, right / (right + wrong)))
    return curve


@given(seeds)
def test_both_pascal_rules_agree_with_the_slow_version(seed: int) -> None:
    pairs = random_pairs(seed)
    for label in CLASSES:
        verdicts, truths = slow_voc_verdicts(pairs, label)
        if truths == 0:
            continue
        curve = slow_curve(verdicts, truths)
        points = [max([p for r, p in curve if r >= level / 10], default=0.0) for level in range(11)]
        steps = sorted({0.0, *(r for r, _ in curve)})
        area = sum((b - a) * max(p for r, p in curve if r >= b) for a, b in pairwise(steps))
        assert average_precisions(pairs, [label], match_voc, ap_11_points)[label] == pytest.approx(sum(points) / 11)
        assert average_precisions(pairs, [label], match_voc, ap_area)[label] == pytest.approx(area)


def matches(verdicts: str, truths: int) -> Matches:
    hits, ignored = (np.array([v == sign for v in verdicts], dtype=bool) for sign in "+o")
    return Matches(-np.arange(len(verdicts), dtype=float), hits, ignored, truths)


def test_one_case_by_hand() -> None:
    case = matches("+-+", 4)
    precision, recall = precision_recall(case)
    assert precision.tolist() == pytest.approx([1.0, 0.5, 2 / 3])
    assert recall.tolist() == [0.25, 0.25, 0.5]
    assert ap_area(case) == pytest.approx(0.25 * 1.0 + 0.25 * 2 / 3)
    assert ap_11_points(case) == pytest.approx((3 * 1.0 + 3 * 2 / 3) / 11)
    assert ap_101_points(case) == pytest.approx((26 * 1.0 + 25 * 2 / 3) / 101)


def test_ignored_detections_leave_no_trace() -> None:
    for rule in (ap_11_points, ap_area, ap_101_points):
        assert rule(matches("o+o-o+", 4)) == pytest.approx(rule(matches("+-+", 4)))


@pytest.mark.parametrize("rule", [ap_11_points, ap_area, ap_101_points])
def test_nothing_to_find_nothing_found_and_all_found(rule: Any) -> None:
    assert np.isnan(rule(matches("--", 0)))
    assert rule(matches("", 3)) == 0.0
    assert rule(matches("---", 3)) == 0.0
    assert rule(matches("+++", 3)) == pytest.approx(1.0)
    assert rule(pool_matches([])) != rule(pool_matches([]))  # NaN


def test_equal_scores_keep_the_order_of_the_images() -> None:
    pooled = pool_matches([matches("+", 1), matches("-", 1), matches("+", 1)])
    assert pooled.hits.tolist() == [True, False, True]
    assert pooled.truths == 3


def test_the_same_image_in_two_tasks_counts_twice() -> None:
    box: Array = np.array([[0.0, 0.0, 10.0, 10.0]])
    truth = Truth.plain("a", box, ["cat"])
    hit, miss = Detections.ranked(box, [2.0], ["cat"]), Detections.ranked(box + 50.0, [1.0], ["cat"])
    assert average_precisions([(hit, truth), (miss, truth)], ["cat"], match_voc, ap_area)["cat"] == 0.5


def test_classes_without_objects_are_left_out_of_the_mean() -> None:
    assert macro_mean({"a": 0.5, "b": float("nan"), "c": 1.0}) == 0.75
    assert np.isnan(macro_mean({}))


def draw_matches(rng: np.random.Generator) -> Matches:
    count = int(rng.integers(0, 6))
    scores = np.sort(rng.uniform(size=count))[::-1]
    hits = rng.uniform(size=count) < 0.5
    ignored = ~hits & (rng.uniform(size=count) < 0.2)
    return Matches(scores, hits, ignored, int(hits.sum()) + int(rng.integers(0, 3)))


@given(st.integers(0, 2**32 - 1), st.sampled_from([ap_11_points, ap_101_points, ap_area]))
def test_drawing_tasks_is_pooling_what_was_drawn(seed: int, rule: object) -> None:
    rng = np.random.default_rng(seed)
    tasks = {task: draw_matches(rng) for task in rng.permutation(9)[:6].tolist()}
    places = rng.integers(0, 9, size=9)
    wanted = pool_matches(tasks[place] for place in sorted(places) if place in tasks)
    drawn = TaskMatches.pool(tasks, 9).drawn(np.bincount(places, minlength=9))
    assert drawn.truths == wanted.truths
    assert callable(rule)
    assert rule(drawn) == pytest.approx(rule(wanted), nan_ok=True)


def test_the_mean_leaves_out_classes_that_were_not_drawn() -> None:
    right = Matches(np.array([1.0]), np.array([True]), np.array([False]), 1)
    wrong = Matches(np.array([1.0]), np.array([False]), np.array([False]), 1)
    classes = [TaskMatches.pool({0: right}, 2), TaskMatches.pool({1: wrong}, 2)]
    statistic = mean_average_precision(classes, ap_area, 2)
    assert statistic(np.array([0, 1])) == pytest.approx(0.5)
    assert statistic(np.array([0, 0])) == pytest.approx(1.0)
    assert statistic(np.array([1, 1])) == pytest.approx(0.0)
