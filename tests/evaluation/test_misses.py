"""Every kind of miss by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tag2box.evaluation import Verdict, judge_box
from tag2box.types import Truth

TRUTH = Truth.plain("a", [[10, 10, 50, 50], [60, 10, 90, 40]], ["cat", "dog"])
REGIONS = np.array([[0, 0, 100, 100], [10, 10, 50, 48]], dtype=np.float32)


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
