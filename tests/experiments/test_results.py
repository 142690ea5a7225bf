"""Results: what names them, and what they keep."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from planted_bench import some_result
from tag2box.errors import ResultError
from tag2box.evaluation import Interval, Verdict
from tag2box.experiments.bench.reports import shown
from tag2box.experiments.bench.results import Row, load_result, rows_of, save_result
from tag2box.experiments.bench.specification import PRECISION, QUERY, Specification
from tag2box.methods.lineup import Chosen

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


def test_everything_that_a_number_depends_on_is_in_its_name() -> None:
    assert set(OTHERS) == {field.name for field in fields(Row)}
    keys = [ROW.key] + [replace(ROW, **{name: value}).key for name, value in OTHERS.items()]  # type: ignore[arg-type]
    assert len(set(keys)) == len(keys)


def test_a_result_survives_its_file(tmp_path: Path) -> None:
    result = some_result(True, False, True, True)
    path = ROW.file(tmp_path / "results")
    save_result(path, ROW, result, {"commit": "abc"})
    assert load_result(path) == result


def test_a_number_without_an_interval_survives_too(tmp_path: Path) -> None:
    lonely = Interval(0.5, float("nan"), float("nan"), 1)
    save_result(tmp_path / "one.json", ROW, replace(some_result(True), figures={PRECISION: lonely}), {})
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


def test_a_number_that_is_none_is_left_out_of_the_file(tmp_path: Path) -> None:
    nothing, something = Interval(float("nan"), float("nan"), float("nan"), 4), Interval(0.5, 0.4, 0.6, 4)
    result = replace(some_result(True), figures={QUERY: nothing, PRECISION: something})
    save_result(tmp_path / "one.json", ROW, result, {})
    assert load_result(tmp_path / "one.json").figures == {PRECISION: something}
    assert "NaN" not in (tmp_path / "one.json").read_text()  # which is no JSON


def test_trials_of_any_length_survive(tmp_path: Path) -> None:
    everything = replace(
        some_result(True, True, True),
        query=(tuple(Verdict), (), (Verdict.right,)),
        support=((), (True,) * 70, (False, True, False)),
        precision_without=(),
    )
    save_result(tmp_path / "new" / "one.json", ROW, everything, {})
    assert load_result(tmp_path / "new" / "one.json") == everything


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("query", [["nearly right"]]),
        ("support", [3]),
        ("support", [[True]]),
        ("support", ["12"]),
        ("class", None),
        ("task", 3),
    ],
)
def test_a_result_with_trials_that_make_no_sense_is_refused(tmp_path: Path, place: str, value: object) -> None:
    path = tmp_path / "result.json"
    save_result(path, ROW, some_result(True, True, True, True), {})
    content = json.loads(path.read_text())
    content["trials"][place] = value
    path.write_text(json.dumps(content))
    with pytest.raises(ResultError, match=r"result\.json cannot be read"):
        load_result(path)


def test_the_file_of_a_row_can_be_found_by_eye_and_has_no_spaces(tmp_path: Path) -> None:
    row = replace(ROW, dataset="coco60 novel", ways=5, shots=10)
    assert row.file(tmp_path).name == f"coco60-novel-vmf-mil-5-way-10-shot-{row.key}.json"
    assert row.file(tmp_path).parent == tmp_path


def test_a_table_has_a_row_for_each_method_and_cell_whatever_the_order_of_its_settings() -> None:
    asked = Specification("t", "q?", "voc07", ("mi-svm", "vmf-mil"), shots=(5, 10), ways=(1, 3), tasks=7, seed=2)
    chosen: dict[str, Chosen] = {"mi-svm": {"gamma": 1.0, "cost": 2.0}, "vmf-mil": {"kappa": 3.0}}
    known = {"mi-svm": "base", "vmf-mil": "more"}
    rows = rows_of(asked, chosen, "an extractor", "boxes", known)
    cells = [("mi-svm", 1, 5), ("mi-svm", 1, 10), ("mi-svm", 3, 5), ("mi-svm", 3, 10), ("vmf-mil", 1, 5)]
    assert [(row.method, row.ways, row.shots) for row in rows[:5]] == cells
    assert len({row.key for row in rows}) == len(rows) == 8
    turned: dict[str, Chosen] = {"vmf-mil": {"kappa": 3.0}, "mi-svm": {"cost": 2.0, "gamma": 1.0}}
    assert [row.key for row in rows_of(asked, turned, "an extractor", "boxes", known)] == [row.key for row in rows]
    assert rows[0] == Row(
        *("voc07", "mi-svm", 1, 5, 7, 2, "by images", "VOC", (("cost", 2.0), ("gamma", 1.0))),
        *("an extractor", "boxes", "base"),
    )
