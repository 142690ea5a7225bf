"""The machine, the folders that are written to, and the terminal."""

from __future__ import annotations

import codecs
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from tag2box.product.doctor.findings import Finding, note, ok, problem

GIBIBYTE = 1024**3
LITTLE_MEMORY = GIBIBYTE
LITTLE_SPACE = GIBIBYTE


def machine_finding(cores: int, memory: int | None) -> Finding:
    """How many cores there are to work with, and how much memory, if that can be told."""
    words = f"{cores} {'core' if cores == 1 else 'cores'}"
    if memory is None:
        return ok("machine", words)
    words = f"{words}, {memory / GIBIBYTE:.1f} GiB of memory"
    if memory < LITTLE_MEMORY:
        return note("machine", words, "if tag2box is killed without a word, run it where there is more memory.")
    return ok("machine", words)


def memory_bytes() -> int | None:
    """The machine's memory; None where the system does not tell."""
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def folder_finding(name: str, folder: Path, free: int | None = None) -> Finding:
    """Whether a folder can be written to, and how much space its disk has."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"tag2box")
    except OSError as error:
        remedy = "work in a folder that you may write to, on a disk with space."
        return problem(name, f"{folder} cannot be written to: {error.strerror}.", remedy)
    space = shutil.disk_usage(folder).free if free is None else free
    words = f"{folder}, {space / GIBIBYTE:.1f} GiB free"
    return ok(name, words) if space >= LITTLE_SPACE else note(name, words, "make room before a long run.")


def terminal_finding(encoding: str, is_terminal: bool) -> Finding:
    """Whether every sign can be printed."""
    words = f"{encoding}, {'a terminal' if is_terminal else 'not a terminal: plain lines'}"
    if codecs.lookup(encoding).name == "utf-8":
        return ok("terminal", words)
    return note("terminal", words, "set PYTHONUTF8=1, else some signs are printed as codes.")
