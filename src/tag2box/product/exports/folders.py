"""Folders that are either whole or not there: filled under a temporary name and renamed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tag2box.errors import ExportError

MARK = ".tag2box-export"
"""File that says that a folder is ours, and may be replaced."""


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """An empty folder to fill; it becomes ``folder`` when the block ends well and vanishes when it does not."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        fresh = scratch / "fresh"
        fresh.mkdir()
        yield fresh
        (fresh / MARK).write_text("Written by tag2box export, which replaces this folder when it runs again.\n")
        _swap(folder, fresh, scratch / "old")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def require_replaceable(folder: Path) -> None:
    """Refuse a folder that holds anything which an export did not put there."""
    if not folder.exists() or (folder / MARK).is_file() or (folder.is_dir() and not any(folder.iterdir())):
        return
    raise ExportError(
        f"{folder} exists, and tag2box export did not write it.",
        "a new folder, an empty one, or an earlier export",
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
