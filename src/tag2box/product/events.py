"""What is heard while a run works: a listener may show it, and may stop the work by raising ``Stopped``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

from tag2box.arrays import Float32s
from tag2box.errors import PhotoError

Stage = Literal["extract", "localize", "report", "export"]


class Began(NamedTuple):
    """A stage begins."""

    stage: Stage
    total: int


class Advanced(NamedTuple):
    """So much of a stage is done."""

    stage: Stage
    done: int
    total: int


class Unreadable(NamedTuple):
    """A photo that cannot be read, which its error names."""

    error: PhotoError


class Moved(NamedTuple):
    """Where EM looks for a thing after one of its steps."""

    label: str
    step: int
    likelihood: float
    boxes: Float32s
    """(photos of the class, 4)"""


class Learned(NamedTuple):
    """A class is learned."""

    label: str
    photos: int
    expected_right: float
    """How many of its boxes are right, as far as can be told"""


class Ended(NamedTuple):
    """A stage is over."""

    stage: Stage


Event = Began | Advanced | Unreadable | Moved | Learned | Ended
Listener = Callable[[Event], None]


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """Raised by a listener to end the work: what is done stays, and the same job goes on from there."""


def silent(event: Event) -> None:
    """Nobody listens."""


TITLES: dict[Stage, str] = {
    "extract": "Looking at photos",
    "localize": "Finding what they share",
    "report": "Writing the report",
    "export": "Writing photos and boxes",
}
"""What a person reads while a stage goes on."""
PATIENCE = 2.0
"""Seconds after which somebody who waits wants to know how long."""


def on_terminal() -> Listener:
    """Shows what takes longer than two seconds, with the time that is left, if standard error is a terminal."""
    began = time.monotonic()

    def listen(event: Event) -> None:
        nonlocal began
        if isinstance(event, Began):
            began = time.monotonic()
        elif isinstance(event, Advanced) and sys.stderr.isatty() and time.monotonic() - began > PATIENCE:
            left = (time.monotonic() - began) / event.done * (event.total - event.done)
            end = "\n" if event.done == event.total else ""
            words = f"\r{TITLES[event.stage]}: {event.done:,} of {event.total:,}, {left:.0f} s left "
            sys.stderr.write(words + end)

    return listen
