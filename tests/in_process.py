"""The command line without a new process: the same words and exit codes, much sooner."""

from __future__ import annotations

import signal
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

from tag2box.cli.app import app
from tag2box.cli.endings import exit_code_of


def run_here(*arguments: str | Path) -> CompletedProcess[str]:
    """What a command printed and how it ended; streams are files, because endings may want their numbers."""
    words, before = [str(argument) for argument in arguments], signal.getsignal(signal.SIGINT)
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        with out.open("w", encoding="utf-8") as stdout, err.open("w", encoding="utf-8") as stderr:
            try:
                with redirect_stdout(stdout), redirect_stderr(stderr):
                    code = exit_code_of(lambda: app(words, prog_name="tag2box"))
            finally:
                signal.signal(signal.SIGINT, before)
        said, complained = (path.read_text(encoding="utf-8") for path in (out, err))
    return CompletedProcess(words, code if isinstance(code, int) else int(code is not None), said, complained)
