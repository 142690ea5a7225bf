"""Intervals against scipy, and their coverage by simulation.

Leaving out groups of tasks is exact for a mean, and right for average precision, where a bootstrap is not.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tag2box.errors import NotFiniteError, ShapeError
from tag2box.evaluation import (
    Interval,
    Matches,
    TaskMatches,
    ap_area,
    jackknife_interval,
    mean_average_precision,
    mean_over_tasks,
    paired_difference,
    t_interval,
    task_bootstrap,
    unpaired_difference,
    unpaired_jackknife,
    without_each_group,
)
from tag2box.evaluation.intervals import Statistic, student_t_quantile

TASKS = 80


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


def test_an_unpaired_difference_is_that_of_independent_means() -> None:
    rng = np.random.default_rng(7)
    first, second = rng.normal(1.0, 2.0, size=60), rng.normal(size=60)
    ours, theirs = (mean_over_tasks(values[:, None].tolist()) for values in (first, second))
    found = unpaired_difference(ours, theirs, 60, rng, resamples=8000)
    expected = stats.bootstrap(
        (first, second),
        lambda one, other, axis: np.mean(one, axis=axis) - np.mean(other, axis=axis),
        n_resamples=8000,
        method="percentile",
        rng=np.random.default_rng(8),
    ).confidence_interval
    assert found.value == pytest.approx(first.mean() - second.mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.04)
    assert found.trials == 120


def test_what_is_the_same_on_both_sides_is_certain_only_where_it_is_paired() -> None:
    statistic = mean_over_tasks([[float(task % 2)] for task in range(40)])
    paired = paired_difference(statistic, statistic, 40, np.random.default_rng(0))
    unpaired = unpaired_difference(statistic, statistic, 40, np.random.default_rng(0))
    assert (paired.low, paired.high) == (0.0, 0.0)
    assert unpaired.low < -0.1 < unpaired.value == 0.0 < 0.1 < unpaired.high


def test_the_unpaired_jackknife_of_means_is_welchs_interval() -> None:
    rng = np.random.default_rng(9)
    first, second = rng.normal(1.0, 3.0, size=10), rng.normal(size=8)
    ours, theirs = (without_each_group(mean_over_tasks(v[:, None].tolist()), len(v)) for v in (first, second))
    found = unpaired_jackknife(first.mean() - second.mean(), ours, theirs, 10)
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_an_unpaired_jackknife_without_width_and_without_groups() -> None:
    sure = unpaired_jackknife(0.2, np.array([0.5, 0.5]), np.array([0.3, 0.3]), 4)
    assert (sure.value, sure.low, sure.high) == (0.2, 0.2, 0.2)
    unknown = unpaired_jackknife(0.2, np.array([0.5, 0.5]), np.empty(0), 4)
    assert unknown.value == 0.2
    assert np.isnan([unknown.low, unknown.high]).all()


def test_no_tasks_no_resamples_and_nan_are_refused() -> None:
    statistic, rng = mean_over_tasks([[1.0]]), np.random.default_rng(0)
    with pytest.raises(ShapeError, match="tasks is 0"):
        task_bootstrap(statistic, 0, rng)
    with pytest.raises(ShapeError, match="resamples is 0"):
        task_bootstrap(statistic, 1, rng, resamples=0)
    with pytest.raises(ShapeError, match="tasks is 0"):
        unpaired_difference(statistic, statistic, 0, rng)
    with pytest.raises(ShapeError, match="resamples is 0"):
        unpaired_difference(statistic, statistic, 1, rng, resamples=0)
    with pytest.raises(NotFiniteError):
        t_interval([1.0, np.nan])


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


@given(st.integers(1, 100_000), st.sampled_from([0.5, 0.6, 0.9, 0.95, 0.975, 0.995, 0.9995]))
def test_quantiles_agree_with_scipy(degrees: int, probability: float) -> None:
    expected = float(stats.t.ppf(probability, degrees))
    assert student_t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_one_degree_by_hand() -> None:
    assert student_t_quantile(0.975, 1) == pytest.approx(math.tan(0.475 * math.pi))
    assert student_t_quantile(0.75, 1) == pytest.approx(1.0)


@pytest.mark.parametrize(("probability", "degrees"), [(0.4, 3), (1.0, 3), (float("nan"), 3), (0.9, 0)])
def test_arguments_out_of_range_are_refused(probability: float, degrees: float) -> None:
    with pytest.raises(ShapeError):
        student_t_quantile(probability, degrees)
