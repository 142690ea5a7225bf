"""The command line, as a script calls it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """What a command printed and how it ended."""
    command = [sys.executable, "-m", "tag2box", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
