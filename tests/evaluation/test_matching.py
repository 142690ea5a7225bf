"""Which detections are right: the two rules, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tag2box.evaluation import ap_101_points, match_coco, match_voc
from tag2box.types import Detections, Truth


def cats(boxes: list[list[float]], ignore: Sequence[bool] = (), crowd: Sequence[bool] = ()) -> Truth:
    flags = [np.array(flag or [False] * len(boxes)) for flag in (ignore, crowd)]
    return Truth("a", np.array(boxes, np.float32), np.array(["cat"] * len(boxes)), *flags)


def found_cats(*boxes: list[float]) -> Detections:
    """Detections with falling scores."""
    return Detections.ranked(boxes, -np.arange(len(boxes), dtype=float), ["cat"] * len(boxes))


TALL, SHORT = [0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 8.0]


def test_the_two_rules_differ_on_a_taken_object() -> None:
    """Two objects overlap; the second detection fits the taken one best and the free one well enough."""
    found = found_cats(TALL, [0.0, 0.0, 10.0, 9.5])
    assert match_voc(found, cats([TALL, SHORT])).hits.tolist() == [True, False]
    assert match_coco(found, cats([TALL, SHORT])).hits.tolist() == [True, True]


@pytest.mark.parametrize("matcher", [match_voc, match_coco])
def test_an_overlap_of_exactly_one_half_is_a_hit(matcher: Any) -> None:
    assert matcher(found_cats([0.0, 0.0, 10.0, 5.0]), cats([TALL])).hits.tolist() == [True]


def test_an_ignored_object_takes_a_detection_only_if_no_other_does() -> None:
    truth = cats([TALL, SHORT], ignore=[True, False])
    coco, voc = match_coco(found_cats(TALL), truth), match_voc(found_cats(TALL), truth)
    assert (coco.hits.tolist(), coco.ignored.tolist()) == ([True], [False])
    assert (voc.hits.tolist(), voc.ignored.tolist()) == ([False], [True])


def test_any_number_of_detections_may_lie_in_a_crowd() -> None:
    truth = cats([[50.0, 0.0, 90.0, 40.0], TALL], crowd=[True, False])
    found = found_cats([50.0, 0.0, 55.0, 5.0], [60.0, 0.0, 65.0, 5.0], [85.0, 0.0, 94.0, 5.0], TALL)
    coco = match_coco(found, truth)
    assert coco.ignored.tolist() == [True, True, True, False]
    assert coco.hits.tolist() == [False, False, False, True]
    assert ap_101_points(coco) == pytest.approx(1.0)
