"""Leaving out groups of tasks: exact for a mean, and right for average precision, where a bootstrap is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tag2box.errors import ShapeError
from tag2box.evaluation import (
    Matches,
    TaskMatches,
    ap_area,
    jackknife_interval,
    mean_average_precision,
    mean_over_tasks,
    t_interval,
    task_bootstrap,
    without_each_group,
)
from tag2box.evaluation.intervals import Statistic

TASKS = 80


def test_the_jackknife_of_a_mean_is_the_t_interval() -> None:
    values = np.random.default_rng(0).normal(size=10)
    statistic = mean_over_tasks(values[:, None].tolist())
    without = without_each_group(statistic, 10)
    expected = [np.delete(values, place).mean() for place in range(10)]
    np.testing.assert_allclose(without, expected)
    found, wanted = jackknife_interval(values.mean(), without, 10), t_interval(values)
    assert (found.value, found.low, found.high, found.trials) == pytest.approx(
        (wanted.value, wanted.low, wanted.high, 10)
    )


def test_groups_grow_with_the_tasks() -> None:
    sizes = {}
    for tasks in (2, 10, 30, 400, 2000):
        left = [0] * tasks

        def count(places: np.ndarray, left: list[int] = left) -> float:
            for place in set(range(len(left))) - set(places.tolist()):
                left[place] += 1
            return 0.0

        sizes[tasks] = len(without_each_group(count, tasks))
        assert left == [1] * tasks  # each task is left out once
    assert sizes == {2: 2, 10: 10, 30: 10, 400: 20, 2000: 45}
    with pytest.raises(ShapeError, match="tasks is 1"):
        without_each_group(lambda places: 0.0, 1)


def ranking(rng: np.random.Generator, tasks: int) -> Statistic:
    """Average precision of one object a task among eleven regions, told apart by a standard deviation and a half."""
    matches = {}
    for task in range(tasks):
        scores = rng.normal(size=12) + 1.5 * (np.arange(12) == 0)
        order = np.argsort(-scores)
        matches[task] = Matches(scores[order], order == 0, np.zeros(12, dtype=bool), 1)
    return mean_average_precision([TaskMatches.pool(matches, tasks)], ap_area, tasks)


def test_intervals_of_average_precision_cover_the_truth() -> None:
    """A bootstrap's lie too high: a task that is drawn twice has its object twice at one rank."""
    rng = np.random.default_rng(1)
    truth = float(np.mean([ranking(rng, 20_000)(np.arange(20_000)) for _ in range(3)]))
    left_out = bootstrapped = 0
    for _ in range(150):
        statistic = ranking(rng, TASKS)
        found = jackknife_interval(statistic(np.arange(TASKS)), without_each_group(statistic, TASKS), TASKS)
        left_out += found.low <= truth <= found.high
        again = task_bootstrap(statistic, TASKS, rng, resamples=100)
        bootstrapped += again.low <= truth <= again.high
    assert 0.88 <= left_out / 150 <= 0.99
    assert bootstrapped < left_out


def test_a_paired_interval_is_that_of_the_differences() -> None:
    rng = np.random.default_rng(2)
    difficulty = rng.normal(scale=5.0, size=10)
    first, second = difficulty + 0.2 + rng.normal(scale=0.1, size=10), difficulty + rng.normal(scale=0.1, size=10)
    ours, theirs = (without_each_group(mean_over_tasks(values[:, None].tolist()), 10) for values in (first, second))
    found = jackknife_interval(first.mean() - second.mean(), ours - theirs, 10)
    expected = stats.ttest_rel(first, second).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
