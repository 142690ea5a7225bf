"""Average precision over drawn tasks, against pooling the drawn tasks one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.evaluation import (
    Matches,
    TaskMatches,
    ap_11_points,
    ap_101_points,
    ap_area,
    mean_average_precision,
    pool_matches,
)


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
