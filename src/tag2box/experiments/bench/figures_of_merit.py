"""From trials to the numbers of a table, each with its interval; and by how much one method beats another.

g = tasks
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from tag2box.arrays import Array, Ints
from tag2box.errors import ResultError
from tag2box.evaluation import (
    Interval,
    Matches,
    TaskMatches,
    Verdict,
    jackknife_interval,
    mean_average_precision,
    paired_difference,
    t_interval,
    task_bootstrap,
    unpaired_difference,
    unpaired_jackknife,
    without_each_group,
)
from tag2box.evaluation.intervals import Statistic
from tag2box.experiments.bench.results import Row, RowResult
from tag2box.experiments.bench.specification import (
    AGNOSTIC,
    PRECISION,
    QUERY,
    SUPPORT,
    Expectation,
    Hypothesis,
    MoreShots,
    Specification,
)
from tag2box.experiments.bench.tasks import Trial

RESAMPLES = 500
_Found = Mapping[tuple[str, int, int], tuple[Row, RowResult]]
"""Rows with their results, by method, ways and shots."""


def measure(trials: Sequence[Trial], tasks: int, precision: Precision) -> dict[str, Interval]:
    """The four numbers that the paper's tables report."""
    labels, owners = [trial.label for trial in trials], [trial.task for trial in trials]
    support = [trial.support for trial in trials]
    statistics = {
        QUERY: macro_corloc(labels, owners, [query_hits(trial.query) for trial in trials], tasks),
        SUPPORT: macro_corloc(labels, owners, support, tasks),
    }
    found = {
        name: task_bootstrap(statistic, tasks, np.random.default_rng(0), resamples=RESAMPLES)
        for name, statistic in statistics.items()
    }
    found[AGNOSTIC] = t_interval([hit for hits in support for hit in hits])
    return found | {PRECISION: jackknife_interval(precision.value, precision.without, tasks)}


class Precision(NamedTuple):
    """Mean average precision of all tasks, and what its interval is made of."""

    value: float
    without: Array
    """Without each group of tasks in turn; empty where nothing can be left out, or nothing would be left to find"""


def precision_of(classes: Mapping[str, TaskMatches], tasks: int, rule: Callable[[Matches], float]) -> Precision:
    """Mean average precision over the classes that tasks have queries for."""
    statistic = mean_average_precision(list(classes.values()), rule, tasks)
    without = without_each_group(statistic, tasks) if tasks > 1 else np.empty(0)
    return Precision(statistic(np.arange(tasks)), without if np.isfinite(without).all() else np.empty(0))


def query_hits(query: Sequence[Verdict]) -> tuple[bool, ...]:
    """Whether the query image is right; empty if there is none."""
    return tuple(verdict is Verdict.right for verdict in query)


def macro_corloc(labels: Sequence[str], owners: Sequence[int], hits: Sequence[Sequence[bool]], tasks: int) -> Statistic:
    """Mean over classes of the share of right images in drawn tasks, from each trial's class, task and images."""
    names, classes = np.unique(labels, return_inverse=True)
    owner = np.array(owners)
    right = np.array([sum(trial) for trial in hits], dtype=np.float64)
    images = np.array([len(trial) for trial in hits], dtype=np.float64)

    def statistic(places: Ints) -> float:
        times = np.bincount(places, minlength=tasks)[owner]  # one for each trial
        found = np.bincount(classes, times * right, len(names))
        counts = np.bincount(classes, times * images, len(names))
        return float(np.mean(found[counts > 0] / counts[counts > 0])) if counts.any() else float("nan")

    return statistic


def matches_by_class(trials: Sequence[Trial], tasks: int) -> dict[str, TaskMatches]:
    """The verdicts of each class over all tasks that ask for it."""
    labels = sorted({trial.label for trial in trials})
    return {
        label: TaskMatches.pool({trial.task: trial.matches for trial in trials if trial.label == label}, tasks)
        for label in labels
    }


@final
@dataclass(frozen=True)
class Comparison:
    """What became of a hypothesis at one number of ways and shots; of more shots, at the larger number."""

    hypothesis: Hypothesis
    ways: int
    shots: int
    difference: Interval

    @property
    def words(self) -> str:
        """Whether reality agrees."""
        if self.difference.low > 0:
            return "yes"
        return "no" if self.difference.high < 0 else "not decided"


def comparisons(specification: Specification, results: Mapping[Row, RowResult]) -> list[Comparison]:
    """Every hypothesis, wherever both of its rows were run."""
    found = {(row.method, row.ways, row.shots): (row, result) for row, result in results.items()}
    orders = [seen for hypothesis in specification.expect for seen in _orders(hypothesis, found)]
    return orders + [seen for hypothesis in specification.expect_more for seen in _gains(hypothesis, found)]


def difference(better: RowResult, worse: RowResult, measure: str, tasks: int) -> Interval:
    """How much better, paired by task."""
    if (better.tasks, better.labels) != (worse.tasks, worse.labels):
        raise ResultError(
            "two results that are compared come from different tasks.",
            "results of one experiment",
            "delete them and run the experiment again.",
        )
    if measure == PRECISION:
        gap = better.figures[PRECISION].value - worse.figures[PRECISION].value
        return jackknife_interval(gap, np.subtract(better.precision_without, worse.precision_without), tasks)
    rng = np.random.default_rng(0)
    return paired_difference(
        _statistic(better, measure, tasks), _statistic(worse, measure, tasks), tasks, rng, resamples=RESAMPLES
    )


def gain(more: RowResult, fewer: RowResult, measure: str, tasks: int) -> Interval:
    """How much better with more images of a class; the tasks are others, so nothing is paired."""
    if measure == PRECISION:
        gap = more.figures[PRECISION].value - fewer.figures[PRECISION].value
        return unpaired_jackknife(gap, np.array(more.precision_without), np.array(fewer.precision_without), tasks)
    rng = np.random.default_rng(0)
    return unpaired_difference(
        _statistic(more, measure, tasks), _statistic(fewer, measure, tasks), tasks, rng, resamples=RESAMPLES
    )


def _orders(hypothesis: Expectation, found: _Found) -> Iterator[Comparison]:
    for (method, ways, shots), (row, better) in found.items():
        other = (hypothesis.worse, ways, shots)
        if method == hypothesis.better and hypothesis.covers(ways, shots) and other in found:
            gap = difference(better, found[other][1], hypothesis.measure, row.tasks)
            yield Comparison(hypothesis, ways, shots, gap)


def _gains(hypothesis: MoreShots, found: _Found) -> Iterator[Comparison]:
    """Only where both rows ask for the same classes: means over others cannot be compared."""
    for (method, ways, shots), (row, more) in found.items():
        other = (method, ways, hypothesis.fewer)
        if method == hypothesis.method and hypothesis.covers(ways, shots) and other in found:
            fewer = found[other][1]
            if set(more.labels) == set(fewer.labels):
                yield Comparison(hypothesis, ways, shots, gain(more, fewer, hypothesis.measure, row.tasks))


def _statistic(result: RowResult, measure: str, tasks: int) -> Statistic:
    hits = [query_hits(query) for query in result.query] if measure == QUERY else list(result.support)
    return macro_corloc(result.labels, result.tasks, hits, tasks)
