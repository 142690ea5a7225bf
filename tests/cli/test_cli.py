"""The command line as a person or a script uses it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from command_line import run
from in_process import run_here
from samples import random_bag
from tag2box.store import StoreHeader, StoreWriter


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    with StoreWriter(tmp_path / "store", StoreHeader("extractor [1]", 5)) as writer:
        for number in range(3):
            writer.append(random_bag(rng, image_id=f"image-{number}"))
    return tmp_path / "store"


def test_store_info_and_verify(store: Path) -> None:
    info = run("store", "info", store)
    assert info.returncode == 0, info.stderr
    assert info.stdout.split() == (
        [
            "extractor",
            "extractor",
            "[1]",
            "dimension",
            "5",
            "images",
            "3",
            "regions",
            "21",
            "shards",
            "1",
            "(0.0",
            "MB)",
        ]
    )
    verified = run("store", "verify", store)
    assert (verified.returncode, verified.stdout) == (0, "3 images in 1 shard(s) are sound.\n")


def test_wrong_input_is_exit_code_2_with_three_answers_on_stderr(tmp_path: Path, store: Path) -> None:
    missing = run("store", "info", tmp_path / "nowhere [x]")
    assert missing.returncode == 2
    assert missing.stdout == ""
    assert missing.stderr.startswith(f"tag2box: {tmp_path / 'nowhere [x]'} is not a feature store")
    assert "expected: " in missing.stderr
    assert "what to do: " in missing.stderr
    shard = store / "shard-000000.safetensors"
    shard.write_bytes(shard.read_bytes()[:-1])
    broken = run("store", "verify", store)
    assert broken.returncode == 2
    assert "shard-000000.safetensors cannot be read" in broken.stderr


def test_unknown_commands_are_exit_code_2_and_help_is_helpful() -> None:
    assert run("localise").returncode == 2
    assert run("extract", "photos", "-o", "store", "--regions", "0").returncode == 2
    helped = run("--help")
    assert helped.returncode == 0
    for command in ("demo", "doctor", "export", "evaluate", "extract", "train", "background", "measure", "store"):
        assert command in helped.stdout


@pytest.mark.parametrize("command", ["", "detect", "evaluate", "doctor", "extract", "store verify", "measure recall"])
def test_flags_ask_for_nothing(command: str) -> None:
    """``--json`` takes no value, and the help does not say that it would."""
    helped = run_here(*command.split(), "--help")
    assert helped.returncode == 0
    assert "--help" in helped.stdout
    assert "bool" not in helped.stdout.lower()
