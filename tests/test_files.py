"""Files are whole or not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tag2box.files import replacing, write_json


def test_json_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"name": "é", "n": 1})
    assert json.loads(path.read_text(encoding="utf-8")) == {"name": "é", "n": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def _write_half(path: Path) -> None:
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError("power cut")


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, 1)
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, float("nan"))
    with pytest.raises(RuntimeError, match="power cut"):
        _write_half(path)
    assert path.read_text() == "1\n"
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
