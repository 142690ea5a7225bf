"""Files that are either whole or not there: written to a temporary name, synced and renamed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy.typing as npt
from safetensors import safe_open

TEMPORARY_SUFFIX = ".part"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path to write to; it becomes ``path`` when the block ends well and vanishes when it does not."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY_SUFFIX}")
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
