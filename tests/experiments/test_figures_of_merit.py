"""Numbers of a table: what has an interval, and by how much one method beats another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planted_bench import some_result
from tag2box.errors import ResultError
from tag2box.evaluation import Interval, Matches, Verdict, ap_area, pool_matches, t_interval
from tag2box.experiments.bench.figures_of_merit import (
    Comparison,
    difference,
    macro_corloc,
    matches_by_class,
    measure,
    precision_of,
)
from tag2box.experiments.bench.reports import sentence
from tag2box.experiments.bench.specification import AGNOSTIC, PRECISION, QUERY, SUPPORT, Expectation
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


def some_trials(seed: int, tasks: int = 12) -> list[Trial]:
    """One or two classes a task, each with support images, at most one query, and detections."""
    rng, trials = np.random.default_rng(seed), []
    for task in range(tasks):
        for label in rng.permutation(["ant", "bee", "cow"])[: rng.integers(1, 3)].tolist():
            hits = rng.random(4) < 0.5
            matches = Matches(np.sort(rng.uniform(0, 9, 4))[::-1], hits, np.zeros(4, dtype=bool), int(hits.sum()) + 1)
            query = (Verdict.right if rng.random() < 0.5 else Verdict.part,)[: rng.integers(2)]
            trials.append(Trial(task, label, tuple((rng.random(3) < 0.6).tolist()), query, matches))
    return trials


def slow_precision(trials: list[Trial]) -> float:
    """Class by class, all detections of all tasks ranked together."""
    values = []
    for label in {trial.label for trial in trials}:
        own = pool_matches(trial.matches for trial in trials if trial.label == label)
        best = np.argsort(-own.scores, kind="stable")
        values.append(ap_area(Matches(own.scores[best], own.hits[best], own.ignored[best], own.truths)))
    return float(np.mean(values))


@given(st.integers(0, 2**32 - 1))
def test_precision_is_that_of_the_definition_with_and_without_each_task(seed: int) -> None:
    trials = some_trials(seed, tasks=8)
    found = precision_of(matches_by_class(trials, 8), 8, ap_area)
    assert found.value == pytest.approx(slow_precision(trials))
    left = [[trial for trial in trials if trial.task != task] for task in range(8)]  # as many groups as tasks
    np.testing.assert_allclose(found.without, [slow_precision(some) for some in left])


def test_the_four_numbers_are_those_of_the_definition() -> None:
    trials = some_trials(0)
    found = measure(trials, 12, precision_of(matches_by_class(trials, 12), 12, ap_area))
    queries: dict[str, list[bool]] = {"ant": [], "bee": [], "cow": []}
    support: dict[str, list[bool]] = {"ant": [], "bee": [], "cow": []}
    for trial in trials:
        queries[trial.label] += [verdict is Verdict.right for verdict in trial.query]
        support[trial.label] += trial.support
    assert found[QUERY].value == pytest.approx(np.mean([np.mean(hits) for hits in queries.values()]))
    assert found[SUPPORT].value == pytest.approx(np.mean([np.mean(hits) for hits in support.values()]))
    assert found[AGNOSTIC] == t_interval([hit for trial in trials for hit in trial.support])
    assert found[PRECISION].value == pytest.approx(slow_precision(trials))
    assert [found[name].trials for name in (QUERY, SUPPORT, PRECISION)] == [12] * 3  # tasks, not images
    for interval in found.values():
        assert interval.low < interval.value < interval.high


def test_a_class_that_nothing_asks_for_does_not_count_as_wrong() -> None:
    statistic = macro_corloc(["ant", "bee"], [0, 1], [(True,), ()], 3)
    assert statistic(np.array([0, 1])) == 1.0
    assert statistic(np.array([0, 0, 1, 2])) == 1.0
    assert np.isnan(statistic(np.array([1, 2])))  # nothing was asked at all
