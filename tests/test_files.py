"""Files are whole or not there."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from tag2box.errors import ExportError
from tag2box.files import (
    MARK_NAME,
    TEMPORARY_SUFFIX,
    append_lines,
    now,
    replacing,
    replacing_folder,
    require_replaceable,
    take_lock,
    tensor_bytes,
    write_json,
)


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


def test_threads_that_write_the_same_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: write_json(path, [number] * 100), range(400)))
    assert len(set(json.loads(path.read_text()))) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_a_temporary_file_is_hidden_beside_the_real_one_and_known_by_its_end(tmp_path: Path) -> None:
    with replacing(tmp_path / "a.json") as first, replacing(tmp_path / "a.json") as second:
        for temporary in (first, second):
            temporary.write_text("1")
        assert first != second
        for temporary in (first, second):
            assert temporary.parent == tmp_path
            assert temporary.name.startswith(".a.json.")
            assert temporary.name.endswith(TEMPORARY_SUFFIX)


def test_a_folder_is_locked_until_its_handle_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    handle = take_lock(folder)
    with pytest.raises(BlockingIOError):
        take_lock(folder)
    os.close(handle)
    os.close(take_lock(folder))


def test_a_file_cannot_be_locked_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        take_lock(tmp_path / "file")


def test_lines_are_added_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    for word in ("one", "zwei", "três"):
        append_lines(path, [word])
    assert path.read_text(encoding="utf-8") == "one\nzwei\ntrês\n"
    path.write_bytes(path.read_bytes() + b"cut o")  # a crash in the middle of a line
    append_lines(path, ["four", "five"])
    assert path.read_text(encoding="utf-8").splitlines() == ["one", "zwei", "três", "four", "five"]


def _fill_half(folder: Path) -> None:
    with replacing_folder(folder, "a test") as fresh:
        (fresh / "second").touch()
        raise RuntimeError("power cut")


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with replacing_folder(folder, "a test") as fresh:
        (fresh / "first").touch()
    with pytest.raises(RuntimeError, match="power cut"):
        _fill_half(folder)
    assert sorted(path.name for path in folder.iterdir()) == [MARK_NAME, "first"]
    with replacing_folder(folder, "a test") as fresh:
        (fresh / "third").touch()
    assert sorted(path.name for path in folder.iterdir()) == [MARK_NAME, "third"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert "a test" in (folder / MARK_NAME).read_text()


def test_only_our_own_folders_are_replaced(tmp_path: Path) -> None:
    mine, empty, theirs = tmp_path / "mine", tmp_path / "empty", tmp_path / "theirs"
    with replacing_folder(mine, "a test"):
        pass
    empty.mkdir()
    theirs.mkdir()
    (theirs / "letter").touch()
    for folder in (mine, empty, tmp_path / "new"):
        require_replaceable(folder, "a test")
    with pytest.raises(ExportError, match="theirs exists, and a test did not write it"):
        require_replaceable(theirs, "a test")


def test_the_time_is_now_unless_somebody_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    before = datetime.now(UTC).replace(microsecond=0)
    assert before <= datetime.fromisoformat(now()) <= datetime.now(UTC)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert now() == "1970-01-02T00:00:00+00:00"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "tomorrow")
    assert before <= datetime.fromisoformat(now())


def test_tensors_have_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    """Metadata of several keys, which safetensors alone shuffles."""
    tensors = {"b": np.arange(3.0), "a": np.ones((2, 2), dtype=np.float16)}
    metadata = {name: name * 5 for name in ("zebra", "é", "format", "x", "y")}
    content = tensor_bytes(tensors, metadata)
    header = content[8 : 8 + int.from_bytes(content[:8], "little")]
    assert header == json.dumps(json.loads(header), sort_keys=True, separators=(",", ":")).encode().ljust(len(header))
    assert len(header) % 8 == 0
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    found = load_file(path)
    with safe_open(path, framework="np") as file:
        assert file.metadata() == metadata
    for name, values in tensors.items():
        np.testing.assert_array_equal(found[name], values)
