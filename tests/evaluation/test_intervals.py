"""Intervals against scipy, and their coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tag2box.errors import NotFiniteError, ShapeError
from tag2box.evaluation import Interval, mean_over_tasks, paired_difference, t_interval, task_bootstrap


def test_the_papers_interval_reproduces_its_printed_widths() -> None:
    """8,000 trials at 64.53 % and 53.00 % give the ±1.05 and ±1.09 of the paper's Table 3."""
    for share, printed in ((0.6453, 1.05), (0.5300, 1.09)):
        outcomes = np.arange(8000) < round(8000 * share)
        interval = t_interval(outcomes)
        assert interval.trials == 8000
        assert 100 * (interval.high - interval.value) == pytest.approx(printed, abs=0.005)


def test_the_t_interval_agrees_with_scipy() -> None:
    values = np.random.default_rng(0).normal(size=12)
    low, high = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    found = t_interval(values)
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), low, high))


def test_too_few_values_have_no_interval() -> None:
    assert np.isnan(t_interval([]).value)
    one = t_interval([1.0])
    assert one.value == 1.0
    assert np.isnan(one.low)


def test_the_bootstrap_of_a_mean_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).normal(size=40)
    found = task_bootstrap(mean_over_tasks(values[:, None].tolist()), 40, np.random.default_rng(2), resamples=8000)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=8000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.02)


def test_images_of_one_task_stay_together() -> None:
    """Tasks that succeed or fail as a whole: the honest interval is wider than the paper's."""
    tasks = [[float(task % 2)] * 8 for task in range(50)]
    paper = t_interval(np.concatenate(tasks))
    honest = task_bootstrap(mean_over_tasks(tasks), 50, np.random.default_rng(0))
    assert honest.value == paper.value == 0.5
    assert honest.high - honest.low > 2 * (paper.high - paper.low)


def test_tasks_of_different_size_weigh_by_images() -> None:
    statistic = mean_over_tasks([[1.0], [0.0, 0.0, 0.0]])
    assert statistic(np.array([0, 1])) == 0.25
    assert statistic(np.array([0, 0])) == 1.0


def test_the_bootstrap_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(200):
        values = rng.normal(size=(60, 1))
        found = task_bootstrap(mean_over_tasks(values.tolist()), 60, rng, resamples=300)
        covered += found.low <= 0.0 <= found.high
    assert 0.88 <= covered / 200 <= 0.99


def test_paired_differences_see_what_unpaired_intervals_miss() -> None:
    rng = np.random.default_rng(5)
    difficulty = rng.normal(scale=5.0, size=80)
    second = difficulty + rng.normal(scale=0.1, size=80)
    first = difficulty + 0.2 + rng.normal(scale=0.1, size=80)
    ours, theirs = (mean_over_tasks(values[:, None].tolist()) for values in (first, second))
    found = paired_difference(ours, theirs, 80, rng)
    assert 0.1 < found.low < 0.2 < found.high < 0.3
    assert t_interval(first).low < t_interval(second).high


def test_paired_tasks_of_different_size_weigh_by_images() -> None:
    first, second = mean_over_tasks([[1.0], [0.0] * 9]), mean_over_tasks([[0.0], [0.0] * 9])
    assert paired_difference(first, second, 2, np.random.default_rng(0)).value == pytest.approx(0.1)


def test_a_statistic_compared_with_itself_is_zero() -> None:
    statistic = mean_over_tasks([[1.0], [0.0], [1.0]])
    assert paired_difference(statistic, statistic, 3, np.random.default_rng(0)) == Interval(0.0, 0.0, 0.0, 3)


def test_no_tasks_no_resamples_and_nan_are_refused() -> None:
    statistic, rng = mean_over_tasks([[1.0]]), np.random.default_rng(0)
    with pytest.raises(ShapeError, match="tasks is 0"):
        task_bootstrap(statistic, 0, rng)
    with pytest.raises(ShapeError, match="resamples is 0"):
        task_bootstrap(statistic, 1, rng, resamples=0)
    with pytest.raises(NotFiniteError):
        t_interval([1.0, np.nan])
