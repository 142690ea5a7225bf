"""Which detections are right: the two rules by hand, and against matching image by image."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import slow_match_coco, slow_match_voc, slow_pooled_matches
from tag2box.evaluation import (
    RULES,
    Matcher,
    Matches,
    Pair,
    ap_101_points,
    average_precisions,
    match_coco,
    match_voc,
    pooled_matches,
    rank_classes,
)
from tag2box.types import Detections, Truth

CLASSES = ("cat", "dog", "cow", "nobody's")
"""No image has an object of the last two, none has a detection of the last."""
SLOW: dict[Matcher, Callable[[Detections, Truth, float], Matches]] = {
    match_voc: slow_match_voc,
    match_coco: slow_match_coco,
}


def boxes_on_a_grid(rng: np.random.Generator, count: int) -> np.ndarray:
    """(count, 4), some without area, of so few sizes that many overlaps are the same."""
    corners = rng.integers(0, 3, size=(count, 2))
    return np.concatenate([corners, corners + rng.integers(0, 4, size=(count, 2))], axis=1)


def crowded_pairs(seed: int) -> list[Pair]:
    """Images with many ties, with ignored objects and crowds, some without objects or detections, or none at all."""
    rng = np.random.default_rng(seed)
    pairs = []
    for image in range(int(rng.integers(0, 7))):
        things, finds = (int(rng.integers(0, most)) * int(rng.integers(0, 4) > 0) for most in (9, 20))
        ignore, crowd = (rng.uniform(size=things) < share for share in (0.2, 0.2))
        truth = Truth(str(image), boxes_on_a_grid(rng, things), rng.choice(CLASSES[:2], size=things), ignore, crowd)
        scores, labels = rng.integers(0, 4, size=finds), rng.choice(CLASSES[:3], size=finds)
        pairs.append((Detections.ranked(boxes_on_a_grid(rng, finds), scores, labels), truth))
    return pairs


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5, 1.0]))
def test_all_images_at_once_are_judged_as_one_by_one(seed: int, min_overlap: float) -> None:
    pairs = crowded_pairs(seed)
    for label, ranking in rank_classes(pairs, CLASSES).items():
        for matcher, slow in SLOW.items():
            found = matcher(ranking, min_overlap)
            wanted = slow_pooled_matches(pairs, label, slow, min_overlap)
            assert found.truths == wanted.truths
            for name in ("scores", "hits", "ignored"):
                np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


@given(st.integers(0, 2**32 - 1))
def test_average_precisions_are_those_of_slow_matching(seed: int) -> None:
    pairs = crowded_pairs(seed)
    for matcher, average in RULES.values():
        found = average_precisions(pairs, CLASSES, matcher, average)
        assert list(found) == list(CLASSES)
        for label, value in found.items():
            wanted = average(slow_pooled_matches(pairs, label, SLOW[matcher]))
            assert value == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def cats(boxes: list[list[float]], ignore: Sequence[bool] = (), crowd: Sequence[bool] = ()) -> Truth:
    flags = [np.array(flag or [False] * len(boxes)) for flag in (ignore, crowd)]
    return Truth("a", np.array(boxes, np.float32), np.array(["cat"] * len(boxes)), *flags)


def found_cats(*boxes: list[float]) -> Detections:
    """Detections with falling scores."""
    return Detections.ranked(boxes, -np.arange(len(boxes), dtype=float), ["cat"] * len(boxes))


def judged(matcher: Matcher, found: Detections, truth: Truth) -> Matches:
    """The verdicts on the cats of one image."""
    return pooled_matches([(found, truth)], "cat", matcher)


TALL, SHORT = [0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 8.0]


def test_the_two_rules_differ_on_a_taken_object() -> None:
    """Two objects overlap; the second detection fits the taken one best and the free one well enough."""
    found = found_cats(TALL, [0.0, 0.0, 10.0, 9.5])
    assert judged(match_voc, found, cats([TALL, SHORT])).hits.tolist() == [True, False]
    assert judged(match_coco, found, cats([TALL, SHORT])).hits.tolist() == [True, True]


@pytest.mark.parametrize("matcher", [match_voc, match_coco])
def test_an_overlap_of_exactly_one_half_is_a_hit(matcher: Matcher) -> None:
    assert judged(matcher, found_cats([0.0, 0.0, 10.0, 5.0]), cats([TALL])).hits.tolist() == [True]


def test_an_ignored_object_takes_a_detection_only_if_no_other_does() -> None:
    truth = cats([TALL, SHORT], ignore=[True, False])
    coco, voc = (judged(matcher, found_cats(TALL), truth) for matcher in (match_coco, match_voc))
    assert (coco.hits.tolist(), coco.ignored.tolist()) == ([True], [False])
    assert (voc.hits.tolist(), voc.ignored.tolist()) == ([False], [True])


def test_any_number_of_detections_may_lie_in_a_crowd() -> None:
    truth = cats([[50.0, 0.0, 90.0, 40.0], TALL], crowd=[True, False])
    found = found_cats([50.0, 0.0, 55.0, 5.0], [60.0, 0.0, 65.0, 5.0], [85.0, 0.0, 94.0, 5.0], TALL)
    coco = judged(match_coco, found, truth)
    assert coco.ignored.tolist() == [True, True, True, False]
    assert coco.hits.tolist() == [False, False, False, True]
    assert ap_101_points(coco) == pytest.approx(1.0)


def test_of_equal_overlaps_pascal_takes_the_first_object_and_coco_the_last() -> None:
    """The first detection lies half-way between two objects; the second fits one of them only."""
    first, last = [0.0, 0.0, 10.0, 10.0], [4.0, 0.0, 14.0, 10.0]
    truth, between = cats([first, last]), [2.0, 0.0, 12.0, 10.0]
    for rest, voc, coco in ((first, False, True), (last, True, False)):
        found = found_cats(between, rest)
        assert judged(match_voc, found, truth).hits.tolist() == [True, voc]
        assert judged(match_coco, found, truth).hits.tolist() == [True, coco]
