"""Results: what names them, and what they keep."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from tag2box.errors import ResultError
from tag2box.evaluation import Interval, Matches, Verdict, ap_area
from tag2box.experiments.bench.comparing import Comparison, difference
from tag2box.experiments.bench.figures_of_merit import (
    PRECISION,
    QUERY,
    SUPPORT,
    matches_by_class,
    measure,
    precision_of,
)
from tag2box.experiments.bench.reports import sentence, shown
from tag2box.experiments.bench.rows import Row, RowResult, load_result, save_result
from tag2box.experiments.bench.specification import Expectation
from tag2box.experiments.bench.trials import Trial

ROW = Row("voc07", "vmf-mil", 1, 5, 4, 0, "by images", "VOC", (("kappa", 15.0),), "an extractor")
OTHERS = {
    "dataset": "coco60 novel",
    "method": "mi-svm",
    "ways": 5,
    "shots": 10,
    "tasks": 9,
    "seed": 1,
    "draw": "uniformly",
    "rule": "COCO",
    "chosen": (("kappa", 16.0),),
    "extractor": "another",
    "annotations": "other boxes",
    "knowledge": "other base regions",
}


def a_result(*hits: bool) -> RowResult:
    """Four tasks of two classes."""
    verdicts = tuple((Verdict.right if hit else Verdict.part,) for hit in hits)
    support = tuple((hit, True) for hit in hits)
    figures = {name: Interval(0.5, 0.4, 0.6, 4) for name in (QUERY, SUPPORT, PRECISION)}
    classes, tasks = ("cat", "cat", "dog", "dog"), (0, 1, 2, 3)
    return RowResult(
        figures, {"cat": {QUERY: 0.5, "AP": None}}, classes, tasks, verdicts, support, (0.4, 0.5, 0.5, 0.6), 1.5
    )


def test_everything_that_a_number_depends_on_is_in_its_name() -> None:
    assert set(OTHERS) == {field.name for field in fields(Row)}
    keys = [ROW.key] + [replace(ROW, **{name: value}).key for name, value in OTHERS.items()]  # type: ignore[arg-type]
    assert len(set(keys)) == len(keys)


def test_a_result_survives_its_file(tmp_path: Path) -> None:
    result = a_result(True, False, True, True)
    path = ROW.file(tmp_path / "results")
    save_result(path, ROW, result, {"commit": "abc"})
    assert load_result(path) == result


def test_a_number_without_an_interval_survives_too(tmp_path: Path) -> None:
    lonely = Interval(0.5, float("nan"), float("nan"), 1)
    save_result(tmp_path / "one.json", ROW, replace(a_result(True), figures={PRECISION: lonely}), {})
    found = load_result(tmp_path / "one.json").figures[PRECISION]
    assert (found.value, found.trials) == (0.5, 1)
    assert np.isnan([found.low, found.high]).all()
    assert shown(found) == "50.0"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "tag2box-result-1"}'])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(content)
    with pytest.raises(ResultError, match=r"result\.json cannot be read"):
        load_result(path)


def test_differences_are_paired_and_macro() -> None:
    better, worse = a_result(True, True, True, False), a_result(True, False, True, False)
    gap = difference(better, worse, QUERY, 4)
    assert gap.value == pytest.approx(0.25)  # cats 1 against 1/2, dogs the same
    assert gap.low >= 0.0
    assert difference(better, worse, SUPPORT, 4).value == pytest.approx(0.125)


def test_differences_in_precision_are_those_without_each_group_of_tasks() -> None:
    """Both methods lose the same when a task is left out: the difference is certain, though neither number is."""
    ours, theirs = a_result(True, True, True, False), a_result(True, False, True, False)
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
    with pytest.raises(ResultError, match="different tasks"):
        difference(
            a_result(True, True, True, True), replace(a_result(True, True, True, True), tasks=(0, 1, 2, 4)), QUERY, 5
        )


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
