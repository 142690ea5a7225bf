"""Files and folders that are either whole or not there, files that only grow, the lock of a folder, and the time."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import numpy.typing as npt
from safetensors import safe_open
from safetensors.numpy import save

from tag2box.errors import ExportError

TEMPORARY_SUFFIX = ".part"
LOCK_NAME = ".lock"
HEADER_BYTES = 8
"""That say how long the header of a safetensors file is."""


def now() -> str:
    """The time that files say they were made at: SOURCE_DATE_EPOCH where it is set, so that bytes can be compared."""
    told = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(told), UTC) if told.isdecimal() else datetime.now(UTC)
    return moment.isoformat(timespec="seconds")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path to write to; it becomes ``path`` when the block ends well and vanishes when it does not.

    Every call has a name of its own: threads and processes may write the same file, and the last one wins.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Wait until the file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def take_lock(folder: Path) -> int:
    """Make the folder and take its lock, which is held until the handle is closed or the process ends, however it ends.

    BlockingIOError if somebody else holds it; any other OSError if the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / LOCK_NAME, os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle


def tensor_bytes(tensors: dict[str, npt.NDArray[Any]], metadata: dict[str, str]) -> bytes:
    """A safetensors file; the same content always has the same bytes.

    safetensors itself writes metadata in an order that changes from one process to the next.
    """
    content = save(tensors, metadata=metadata)
    end = HEADER_BYTES + int.from_bytes(content[:HEADER_BYTES], "little")
    header = json.dumps(json.loads(content[HEADER_BYTES:end]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % HEADER_BYTES)  # tensors begin at a multiple of 8
    return len(header).to_bytes(HEADER_BYTES, "little") + header + content[end:]


def read_tensors(path: Path, expected: str) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """Tensors and metadata of a safetensors file of the ``expected`` format; ValueError if it is of another."""
    with safe_open(path, framework="np") as file:
        metadata = dict(file.metadata() or {})
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    if metadata.get("format") != expected:
        raise ValueError(f"the format is {metadata.get('format')!r}")
    return tensors, metadata


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as readable JSON, atomically."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text, atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _ends_a_line(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Add lines to a file and wait until they are on the disk; a last line that was cut off before is dropped."""
    with path.open("ab+") as file:
        if file.tell() and not _ends_a_line(file):
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
        file.write("".join(f"{line}\n" for line in lines).encode())
        file.flush()
        os.fsync(file.fileno())
    sync(path.parent)


MARK_NAME = ".tag2box-export"
"""File that says that a folder is ours, and may be replaced."""


@contextmanager
def replacing_folder(folder: Path, writer: str) -> Iterator[Path]:
    """An empty folder to fill; it becomes ``folder`` when the block ends well and vanishes when it does not.

    ``writer`` is the command that fills it, and may replace it when it runs again.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        fresh = scratch / "fresh"
        fresh.mkdir()
        yield fresh
        (fresh / MARK_NAME).write_text(f"Written by {writer}, which replaces this folder when it runs again.\n")
        _swap(folder, fresh, scratch / "old")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def require_replaceable(folder: Path, writer: str) -> None:
    """Refuse a folder that holds anything which none of our commands put there."""
    if not folder.exists() or (folder / MARK_NAME).is_file() or (folder.is_dir() and not any(folder.iterdir())):
        return
    raise ExportError(
        f"{folder} exists, and {writer} did not write it.",
        "a new folder, an empty one, or what the same command wrote before",
        "choose another folder with -o, or move this one away.",
    )


def _swap(folder: Path, fresh: Path, old: Path) -> None:
    """Put ``fresh`` in the place of ``folder``; if that fails, ``folder`` is back where it was."""
    if folder.exists():
        folder.rename(old)
    try:
        fresh.rename(folder)
    except BaseException:
        if old.exists():
            old.rename(folder)
        raise
