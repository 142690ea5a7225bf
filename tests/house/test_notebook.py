"""The tutorial in a notebook runs from its first cell to its last, with the package as it is, and warns of nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tag2box

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
READER = Path(__file__).parents[1] / "notebook_reader.py"
PACKAGE = Path(tag2box.__file__).parents[1]


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def read(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What comes of the cells in a new process and another folder, with the package that is tested here."""
    command = [sys.executable, "-W", "error", str(READER), str(path)]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_there_is_a_tutorial() -> None:
    assert ROOT / "docs" / "notebooks" / "tutorial.ipynb" in NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_what_it_showed(path: Path) -> None:
    """So that a change of it can be read, and nobody's folders are in it."""
    content = json.loads(path.read_text(encoding="utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in content["cells"]]
    assert len(set(names)) == len(names)
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
        assert "".join(cell["source"]).strip() == "".join(cell["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_can_be_shown(path: Path, tmp_path: Path) -> None:
    done = read(path, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    shown = [line for line in done.stdout.splitlines() if line.startswith("shown as ")]
    code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    assert len(shown) >= len(code) - 3  # some only print, or only do
    assert {"shown as text", "shown as table", "shown as picture"} <= set(shown)


def test_the_tutorial_goes_through_all_that_it_promises(tmp_path: Path) -> None:
    code = "\n".join("".join(cell["source"]) for cell in cells(NOTEBOOKS[0]) if cell["cell_type"] == "code")
    for call in (".fit(", ".show(", ".doubts(", ".correct(", ".undo(", ".detect(", ".save(", ".load("):
        assert call in code


def written(path: Path, *sources: str) -> Path:
    some = [{"cell_type": "code", "id": str(number), "source": [text]} for number, text in enumerate(sources)]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "id": "m", "source": ["1 / 0"]}, *some]}))
    return path


@pytest.mark.parametrize(
    ("sources", "complaint"),
    [
        (["1 / 0"], "ZeroDivisionError"),
        (["x = 1", "import warnings\nwarnings.warn('beware')\nx"], "UserWarning: beware"),
        (["class A:\n    def _repr_html_(self):\n        return 1 / 0\nA()"], "ZeroDivisionError"),
        (["class A:\n    def _repr_html_(self):\n        return ''\nA()"], "shows nothing"),
    ],
)
def test_a_cell_that_fails_or_warns_is_noticed(tmp_path: Path, sources: list[str], complaint: str) -> None:
    done = read(written(tmp_path / "bad.ipynb", *sources), tmp_path)
    assert done.returncode != 0
    assert complaint in done.stderr


def test_cells_share_their_names_and_show_their_last_value(tmp_path: Path) -> None:
    done = read(
        written(tmp_path / "good.ipynb", "x = 20", "def f():\n    return x + 1\nf()", "print('hello')"), tmp_path
    )
    assert (done.returncode, done.stdout) == (0, "shown as text\nhello\n")
