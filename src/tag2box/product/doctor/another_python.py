"""Code tried in a Python of its own: what is slow, or could take this one down with it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

SECONDS = 120


@final
@dataclass(frozen=True)
class Attempt:
    """How the code ended."""

    worked: bool
    said: str
    """The last line that it printed or, if it failed, the line that says why"""


Try = Callable[..., Attempt]


def attempt(code: str, *arguments: str) -> Attempt:
    """Run code with the same packages as here; ``arguments`` are its ``sys.argv[1:]``."""
    command = [sys.executable, "-P", "-c", code, *arguments]  # -P: a file torch.py lying here is not torch
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    if done.returncode == 0:
        return Attempt(True, _last_line(done.stdout))
    return Attempt(False, _last_line(done.stderr) or f"it ended with code {done.returncode} and no word")


def _last_line(text: str) -> str:
    """The last line that is not indented: of a traceback, the one that names the error."""
    lines = [line for line in text.splitlines() if line and not line[0].isspace()]
    return lines[-1].strip() if lines else ""
