"""``tag2box demo`` and ``tag2box doctor``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import run
from tag2box.cli.app import app
from tag2box.product import doctor
from tag2box.product.doctor.findings import note, ok, problem


def test_the_demo_runs_and_says_where_to_look(tmp_path: Path) -> None:
    done = run("demo", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "COCO 101 points" in done.stdout
    assert str(tmp_path / "out" / "report.html") in done.stdout
    assert (tmp_path / "out" / "report.html").is_file()


def test_lines_say_what_to_do_and_a_problem_is_exit_code_2(monkeypatch: pytest.MonkeyPatch) -> None:
    good = ok("python", "3.11 [sic]")
    checks = {"a": lambda: good, "b": lambda: None, "c": lambda: note("torch", "strange.")}
    monkeypatch.setattr(doctor, "CHECKS", checks)
    done = CliRunner().invoke(app, ["doctor"])
    assert (done.exit_code, done.stdout) == (0, "✓ python       3.11 [sic]\n· torch        strange.\n")
    monkeypatch.setattr(doctor, "CHECKS", {"a": lambda: good, "d": lambda: problem("model", "broken.", "mend it.")})
    done = CliRunner().invoke(app, ["doctor"])
    assert (done.exit_code, done.stdout) == (
        2,
        "✓ python       3.11 [sic]\n✗ model        broken.\n  what to do:  mend it.\n",
    )
    monkeypatch.setattr(doctor, "CHECKS", {"a": lambda: good})
    done = CliRunner(charset="ascii").invoke(app, ["doctor"])
    assert (done.exit_code, done.stdout) == (0, "+ python       3.11 [sic]\n")


def test_the_doctor_finds_this_place_in_order() -> None:
    done = run("doctor", "--json")
    found = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert done.returncode == 0, done.stdout
    assert list(found)[:5] == ["python", "tag2box", "dependencies", "onnxruntime", "model"]
    assert set(found) <= set(doctor.CHECKS)
    assert re.search(r"runs: [1-3]\d\d regions in a synthetic photo", found["model"]["words"])
    assert set(found["python"]) == {"name", "state", "words", "remedy"}
    assert str(os.cpu_count()) in found["machine"]["words"]


MISSING = "import sys; sys.modules['PIL'] = None; from tag2box.cli import main; main()"


def test_the_doctor_speaks_where_a_package_is_missing() -> None:
    """Whatever was asked for: nothing else can be imported there."""
    command = [sys.executable, "-c", MISSING, "localize", "photos", "-o", "run"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "✓ python" in done.stdout
    assert "could not be checked: ModuleNotFoundError: import of PIL halted" in done.stdout
    assert "Traceback" not in done.stderr
