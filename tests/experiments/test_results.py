"""Results: what names them, and what they keep."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from planted_bench import some_result
from tag2box.errors import ResultError
from tag2box.evaluation import Interval
from tag2box.experiments.bench.reports import shown
from tag2box.experiments.bench.results import Row, load_result, save_result
from tag2box.experiments.bench.specification import PRECISION

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
