"""How a command ends: every end has an exit code and, where there is something to say, words on stderr."""

from __future__ import annotations

import errno
import io
import os
import platform
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType

from rich.console import Console

from tag2box.cli.terminal import name_and_version
from tag2box.errors import InputError

BUG = 1
WRONG_INPUT = 2
STOPPED = 128 + 2
"""As shells have it: ended by signal 2, SIGINT."""
NOBODY_READS = 128 + 13
"""Ended by signal 13, SIGPIPE."""

STOPPED_WORDS = "Stopped. What is done stays; the same command goes on from there."
BUG_WORDS = "tag2box: this is a bug of ours. Please report it, with the command and all that follows."

NO_ROOM = ("space on the disk", "make room, or write to another disk; the same command goes on from there.")
NO_PERMISSION = ("a place that you may write to", "give another folder, or change the permissions of this one.")
NO_FOLDER = ("a folder, or a name that is not taken", "give another name, or move the file of that name away.")
USUAL_TROUBLE = {
    errno.ENOSPC: NO_ROOM,
    errno.EDQUOT: NO_ROOM,
    errno.EROFS: NO_PERMISSION,
    errno.EACCES: NO_PERMISSION,
    errno.EPERM: NO_PERMISSION,
    errno.EEXIST: NO_FOLDER,
    errno.ENOTDIR: NO_FOLDER,
}
"""What disks do to anybody: what was expected, and what to do."""


def exit_code_of(command: Callable[[], object]) -> int | str | None:
    """Run a command to its end, whichever it is, and say what there is to say."""
    _print_what_cannot_be_encoded_as_codes()
    _stop_only_once()
    try:
        try:
            command()
        finally:
            sys.stdout.flush()  # here at the latest it shows that nobody reads, or that the disk is full
    except BaseException as end:  # SystemExit and KeyboardInterrupt too: this is the last place to be polite
        return _farewell(end)
    return 0


def _farewell(end: BaseException) -> int | str | None:
    if _began_with(end, KeyboardInterrupt):
        _say(STOPPED_WORDS)
        return STOPPED
    if _began_with(end, BrokenPipeError):
        _let_go_of_stdout()
        return NOBODY_READS
    if isinstance(end, SystemExit):
        return end.code
    if isinstance(end, OSError) and end.errno in USUAL_TROUBLE:
        _let_go_of_stdout()
        end = _explained(end)
    if isinstance(end, InputError):
        _say(f"tag2box: {end}")
        return WRONG_INPUT
    _say(f"{BUG_WORDS}\n{name_and_version()}, Python {platform.python_version()}, {platform.platform()}\n")
    _say("".join(traceback.format_exception(end)).rstrip())
    return BUG


def _began_with(end: BaseException, kind: type[BaseException]) -> bool:
    """Whether that is how it ended; typer and rich answer to some exceptions with a SystemExit of their own."""
    return any(isinstance(one, kind) for one in (_causes(end) if isinstance(end, SystemExit) and end.code else [end]))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _explained(error: OSError) -> InputError:
    """What the system complains about, as something that a person can act on."""
    place = error.filename2 or error.filename or "A file"
    return InputError(f"{place} cannot be written: {error.strerror}.", *USUAL_TROUBLE[error.errno or 0])


def _say(words: str) -> None:
    Console(stderr=True, highlight=False).print(words, markup=False, soft_wrap=True)


def _let_go_of_stdout() -> None:
    """Send what is still in the buffer nowhere, or Python would try again while it shuts down, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _stop_only_once() -> None:
    """Let the first Ctrl-C interrupt, and no other: a second one must not break into putting away what is done."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # whoever ignores it, as nohup does, has reasons
        signal.signal(signal.SIGINT, stop)


def _print_what_cannot_be_encoded_as_codes() -> None:
    """Let no sign that a terminal lacks, and no odd file name, end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
