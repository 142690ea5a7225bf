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
    comparisons,
    difference,
    gain,
    macro_corloc,
    matches_by_class,
    measure,
    precision_of,
)
from tag2box.experiments.bench.results import Row, RowResult
from tag2box.experiments.bench.specification import (
    AGNOSTIC,
    PAPER,
    PRECISION,
    QUERY,
    SUPPORT,
    Expectation,
    MoreShots,
    Specification,
)
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


RIGHT, WRONG = some_result(True, True, True, True), some_result(False, False, False, False)
ROW = Row("voc07", "vmf-mil", 1, 5, 4, 0, "by images", "VOC", (), "an extractor")


def test_what_more_images_are_worth_is_not_paired() -> None:
    """Tasks that succeed and fail alike would give a certain zero if they were paired."""
    half = some_result(True, False, True, False)
    same = gain(half, half, QUERY, 4)
    assert same.low < same.value == 0.0 < same.high
    assert gain(RIGHT, WRONG, QUERY, 4).value == 1.0
    assert gain(RIGHT, WRONG, SUPPORT, 4).value == 0.5
    better = replace(half, figures={PRECISION: Interval(0.7, 0.6, 0.8, 4)})
    precise = gain(better, half, PRECISION, 4)
    assert precise.value == pytest.approx(0.2)
    assert precise.low < 0.0 < 0.4 < precise.high  # the same values without each group: paired, there were no width


def judged(asked: Specification, results: dict[tuple[str, int, int], RowResult]) -> list[tuple[int, int, float]]:
    """Ways, shots and difference of all hypotheses about results by method, ways and shots."""
    rows = {replace(ROW, method=method, ways=n, shots=k): result for (method, n, k), result in results.items()}
    return [(seen.ways, seen.shots, seen.difference.value) for seen in comparisons(asked, rows)]


def test_a_hypothesis_is_judged_in_the_cells_that_it_is_about() -> None:
    asked = Specification("t", "q?", "voc07", ("vmf-mil", "mi-svm"), shots=(5, 10), ways=(1, 2))
    cells = [(ways, shots) for ways in asked.ways for shots in asked.shots]
    rival = {("mi-svm", *cell): WRONG for cell in cells}
    results = {("vmf-mil", *cell): RIGHT for cell in cells} | rival
    for ways, shots, wanted in (
        (None, None, cells),
        (None, 10, [(1, 10), (2, 10)]),
        (2, None, [(2, 5), (2, 10)]),
        (1, 5, [(1, 5)]),
    ):
        expect = (Expectation("vmf-mil", "mi-svm", PAPER, shots=shots, ways=ways),)
        assert judged(replace(asked, expect=expect), results) == [(*cell, 1.0) for cell in wanted]


def test_more_shots_are_compared_with_fewer_where_both_were_run_for_the_same_classes() -> None:
    more = (MoreShots("vmf-mil", 5, 10, PAPER),)
    asked = Specification("t", "q?", "voc07", ("vmf-mil", "mi-svm"), shots=(5, 10), ways=(1, 2, 3), expect_more=more)
    others = replace(WRONG, labels=("cat", "cat", "cow", "cow"))
    results = {
        ("vmf-mil", 1, 5): WRONG,
        ("vmf-mil", 1, 10): RIGHT,
        ("vmf-mil", 2, 10): RIGHT,
        ("vmf-mil", 3, 5): others,
        ("vmf-mil", 3, 10): RIGHT,
        ("mi-svm", 1, 5): WRONG,
        ("mi-svm", 1, 10): WRONG,
    }
    assert judged(asked, results) == [(1, 10, 1.0)]
    assert judged(replace(asked, expect_more=(replace(more[0], ways=2),)), results) == []


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
