"""Experiments as files: those that ship can be read, and a mistake in one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tag2box.errors import SpecificationError
from tag2box.experiments.bench.specification import read_specification
from tag2box.experiments.bench.workbench import SOURCES

SHIPPED = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))
GOOD = 'title = "t"\nclaim = "c"\ndataset = "voc07"\nmethods = ["vmf-mil"]\n'


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_experiment_that_ships_can_be_run(path: Path) -> None:
    asked = read_specification(path)
    assert asked.dataset in SOURCES
    assert f"experiments/{path.name}" in path.read_text()  # the header says how to run it


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (GOOD + "kappas = 3\n", "unknown key 'kappas'"),
        (GOOD.replace("vmf-mil", "vmf-mli"), "methods is 'vmf-mli'"),
        (GOOD + 'draw = "often"\n', "draw is 'often'"),
        (GOOD + 'draw = "by objects"\nways = [1, 5]\n', r"ways is \(1, 5\)"),
        (GOOD + "shots = []\n", "shots is"),
        (GOOD + "tasks = 0\n", "tasks is"),
        (GOOD + '[[paper]]\nmethod = "mi-svm"\nmeasure = "mAP"\nvalue = 1\n', "paper is 'mi-svm'"),
        (GOOD + '[[expect]]\nbetter = "vmf-mil"\nworse = "vmf-mil"\nmeasure = "speed"\n', "expect is 'speed'"),
        (GOOD + '[[expect]]\nbeter = "vmf-mil"\n', "unknown key 'beter'"),
        ('title = "t"\n', "missing"),
        ("title = ", "cannot be read"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(SpecificationError, match=complaint) as raised:
        read_specification(path)
    assert "wrong.toml" in raised.value.wrong
