"""How work that takes long says how far it is: one kind of listener for all of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

Report = Callable[[int, dict[str, float]], None]
"""Called with the number of things done so far, and with figures to show beside it, by name."""


Progress = Callable[[str, int], AbstractContextManager[Report]]
"""Begins to show a step of so many things, by its title."""


def silent(done: int, figures: dict[str, float]) -> None:
    """For whoever does not want to know."""
