"""What a check has found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import final

from tag2box.errors import reason_of


class State(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"
    """Good to know; tag2box works"""
    PROBLEM = "problem"


@final
@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: State
    words: str
    remedy: str = ""
    """What to do; empty if nothing is to be done"""


Check = Callable[[], Finding | None]


def ok(name: str, words: str) -> Finding:
    """The finding that something is as it should be."""
    return Finding(name, State.OK, words)


def note(name: str, words: str, remedy: str = "") -> Finding:
    """The finding that something is unusual, and that tag2box works all the same."""
    return Finding(name, State.NOTE, words, remedy)


def problem(name: str, words: str, remedy: str) -> Finding:
    """The finding that something is wrong, with what to do about it."""
    return Finding(name, State.PROBLEM, words, remedy)


def finding_of(name: str, check: Check) -> Finding | None:
    """What ``check`` finds, if it has something to say; a check that fails has found a problem."""
    try:
        return check()
    except Exception as error:  # a doctor does not faint
        return problem(name, f"could not be checked: {reason_of(error)}", "report this, with all of these lines.")
