"""Numbers of a table: what has an interval, and by how much one method beats another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planted_bench import some_result
from tag2box.errors import ResultError
from tag2box.evaluation import Interval, Matches, ap_area
from tag2box.experiments.bench.figures_of_merit import (
    Comparison,
    difference,
    matches_by_class,
    measure,
    precision_of,
)
from tag2box.experiments.bench.reports import sentence
from tag2box.experiments.bench.specification import PRECISION, QUERY, SUPPORT, Expectation
from tag2box.experiments.bench.tasks import Trial


def test_differences_are_paired_and_macro() -> None:
    better, worse = some_result(True, True, True, False), some_result(True, False, True, False)
    gap = difference(better, worse, QUERY, 4)
    assert gap.value == pytest.approx(0.25)  # cats 1 against 1/2, dogs the same
    assert gap.low >= 0.0
    assert difference(better, worse, SUPPORT, 4).value == pytest.approx(0.125)


def test_differences_in_precision_are_those_without_each_group_of_tasks() -> None:
    """Both methods lose the same when a task is left out: the difference is certain, though neither number is."""
    ours, theirs = some_result(True, True, True, False), some_result(True, False, True, False)
    better = replace(
        ours,
        figures={PRECISION: Interval(0.7, 0.2, 1.0, 4)},
        precision_without=tuple(value + 0.2 for value in theirs.precision_without),
    )
    gap = difference(better, theirs, PRECISION, 4)
    assert (gap.value, gap.low, gap.high) == pytest.approx((0.2, 0.2, 0.2))
    swapped = replace(better, precision_without=(0.6, 0.5, 0.5, 0.4))
    assert difference(swapped, theirs, PRECISION, 4).low < 0.0


def test_results_of_other_tasks_are_not_compared() -> None:
    result = some_result(True, True, True, True)
    with pytest.raises(ResultError, match="different tasks"):
        difference(result, replace(result, tasks=(0, 1, 2, 4)), QUERY, 5)


@pytest.mark.parametrize(("low", "high", "words"), [(0.1, 0.2, "yes"), (-0.2, -0.1, "no"), (-0.1, 0.1, "not decided")])
def test_a_difference_in_words(low: float, high: float, words: str) -> None:
    comparison = Comparison(Expectation("vmf-mil", "mi-svm"), 1, 5, Interval((low + high) / 2, low, high, 9))
    text = "vMF-MIL above MI-SVM in query CorLoc (1-way 5-shot): "
    assert f"{text}{words}," in sentence(comparison)
    assert f"{text}**{words}**," in sentence(comparison, "**")


def test_where_one_task_has_all_objects_precision_has_no_interval() -> None:
    """Without that task there is nothing to find, and so no precision."""
    found = Matches(np.array([0.9]), np.array([True]), np.array([False]), 1)
    nothing = Matches(np.array([0.9]), np.array([False]), np.array([True]), 0)
    trials = [Trial(task, "cat", (), (), matches) for task, matches in enumerate([found, nothing])]
    precision = precision_of(matches_by_class(trials, 2), 2, ap_area)
    assert precision.value == 1.0
    assert precision.without.size == 0
    assert np.isnan(measure(trials, 2, precision)[PRECISION].low)
