"""``tag2box train`` as a person or torchrun uses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tag2box.cli import main
from tag2box.data import held_out_classes, load_split
from tag2box.extract import read_card
from tag2box.training.detector.run import JOURNAL_NAME, read_journal
from tiny_training import COLOURS, TINY


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    return write_recipe(tmp_path / "tiny.toml", steps=4)


def write_recipe(path: Path, **changes: object) -> Path:
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in (TINY | changes).items()))
    return path


def train(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """The exit code of the command, run in this process."""
    monkeypatch.setattr(sys, "argv", ["tag2box", "train", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    code = stopped.value.code
    return code if isinstance(code, int) else 0


def test_a_run_leaves_a_model_and_its_story(
    tmp_path: Path, boxes_file: Path, recipe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert train(monkeypatch, boxes_file, boxes_file, "-o", run, "--recipe", recipe) == 0
    said = capsys.readouterr()
    assert "12 photos, 12 objects, 60 classes." in said.out
    assert f"Wrote the detector to {run / 'model'}." in said.out
    assert said.err == ""
    card = read_card(run / "model")
    assert card.trained_on["photos"] == 12
    assert len(card.trained_on["classes"]) == 60
    assert [line["step"] for line in read_journal(run / JOURNAL_NAME)] == [0, 1, 2, 3]
    assert json.loads((run / "run.json").read_text())["recipe"]["steps"] == 4
    assert (run / "losses.png").is_file()
    other = write_recipe(tmp_path / "other.toml", steps=5)
    assert train(monkeypatch, boxes_file, boxes_file, "-o", run, "--recipe", other) == 2
    assert "belongs to another run" in capsys.readouterr().err
    assert json.loads((run / "run.json").read_text())["recipe"]["steps"] == 4


def test_held_out_classes_are_not_learned(
    tmp_path: Path, boxes_file: Path, recipe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is any photo of them shown: three of the six have a zebra, which is an animal."""
    run, hidden = tmp_path / "run", set(held_out_classes(load_split("coco60").base))
    assert train(monkeypatch, boxes_file, "-o", run, "--recipe", recipe, "--hold-out") == 0
    assert f"3 photos, 3 objects, {60 - len(hidden)} classes." in capsys.readouterr().out
    learned = set(read_card(run / "model").trained_on["classes"])
    assert learned & COLOURS.keys() == {"truck"}
    assert not learned & hidden


def test_wrong_input_is_exit_code_2_with_a_reason(
    tmp_path: Path, boxes_file: Path, recipe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, blocked = tmp_path / "run", tmp_path / "file"
    blocked.touch()
    (tmp_path / "wrong.toml").write_text("step = 3")
    cases: list[tuple[str, list[object]]] = [
        ("nowhere.json cannot be read", [tmp_path / "nowhere.json", "-o", run]),
        ("cannot be written", [boxes_file, "-o", blocked / "run"]),
        ("unknown key 'step'", [boxes_file, "-o", run, "--recipe", tmp_path / "wrong.toml"]),
        ("nowhere.toml cannot be read", [boxes_file, "-o", run, "--recipe", tmp_path / "nowhere.toml"]),
        ("there is no split 'coco61'", [boxes_file, "-o", run, "--split", "coco61"]),
        ("none of the photos shows", [boxes_file, "-o", run, "--split", "voc1"]),
    ]
    for reason, arguments in cases:
        assert train(monkeypatch, *arguments) == 2, reason
        said = capsys.readouterr().err
        assert said.startswith("tag2box: "), said
        assert reason in said
        assert "what to do: " in said
    assert not run.exists()
    assert train(monkeypatch, boxes_file) == 2


def test_torchrun_trains_one_run_with_two_processes(tmp_path: Path, boxes_file: Path) -> None:
    """Every process sees its own photos; the losses and the model are written once."""
    recipe, run = write_recipe(tmp_path / "tiny.toml", steps=3, checkpoint_every=2), tmp_path / "run"
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1", "--nproc-per-node", "2"]
    command = [sys.executable, *torchrun, "-m", "tag2box", "train", boxes_file, "-o", run, "--recipe", recipe]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, env=environment, timeout=900
    )
    assert done.returncode == 0, done.stderr
    assert [line["step"] for line in read_journal(run / JOURNAL_NAME)] == [0, 1, 2]
    assert read_card(run / "model").trained_on["photos"] == 6
    assert not list(run.rglob("*.part"))
