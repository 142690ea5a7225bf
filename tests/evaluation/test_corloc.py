"""Correct localization, and every kind of miss by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tag2box.errors import ShapeError
from tag2box.evaluation import Verdict, corloc_by_class, is_correct, judge_box, macro_mean
from tag2box.types import Truth

TRUTH = Truth.plain("a", [[10, 10, 50, 50], [60, 10, 90, 40]], ["cat", "dog"])
REGIONS = np.array([[0, 0, 100, 100], [10, 10, 50, 48]], dtype=np.float32)


def truth() -> Truth:
    boxes = np.array([[0, 0, 10, 10], [50, 50, 70, 70], [80, 80, 90, 90]], np.float32)
    return Truth("a", boxes, np.array(["cat", "dog", "cat"]), np.array([False, False, True]), np.zeros(3, bool))


def test_the_box_must_overlap_an_object_of_the_class_by_half() -> None:
    assert is_correct(np.array([0, 0, 10, 5]), truth(), "cat")  # exactly one half
    assert not is_correct(np.array([0, 0, 10, 4.9]), truth(), "cat")
    assert not is_correct(np.array([50, 50, 70, 70]), truth(), "cat")
    assert is_correct(np.array([50, 50, 70, 70]), truth(), "dog")
    assert is_correct(np.array([50, 50, 70, 60]), truth(), "dog", min_overlap=0.3)


def test_any_object_of_the_class_will_do_also_a_difficult_one() -> None:
    assert is_correct(np.array([80, 80, 90, 90]), truth(), "cat")
    assert not is_correct(np.array([80, 80, 90, 90]), truth(), "cow")


def test_every_class_counts_once_in_the_macro_mean() -> None:
    by_class = corloc_by_class([True, True, True, False, False], ["cat", "cat", "cat", "dog", "cat"])
    assert by_class == {"cat": 0.75, "dog": 0.0}
    assert macro_mean(by_class) == 0.375
    with pytest.raises(ShapeError, match="labels"):
        corloc_by_class([True], ["cat", "dog"])


@pytest.mark.parametrize(
    ("box", "verdict"),
    [
        ([12, 10, 50, 50], Verdict.right),
        ([60, 10, 88, 40], Verdict.other),
        ([10, 10, 30, 25], Verdict.part),
        ([0, 0, 100, 100], Verdict.group),
        ([40, 40, 80, 80], Verdict.near),
        ([55, 55, 90, 90], Verdict.background),
    ],
)
def test_what_a_box_shows(box: list[float], verdict: Verdict) -> None:
    assert judge_box(np.array(box, dtype=np.float32), REGIONS, TRUTH, "cat") is verdict


def test_without_a_region_on_the_object_nobody_could_be_right() -> None:
    assert judge_box(np.array([60, 10, 88, 40]), REGIONS[:1], TRUTH, "cat") is Verdict.no_region
