"""Progress with the time that is left: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 30.0

Advance = Callable[[int, dict[str, float]], None]


@contextmanager
def step_progress(title: str, total: int, console: Console) -> Iterator[Advance]:
    """A function to call with the number of things done, and figures to show beside it."""
    if not console.is_terminal:
        yield _lines(title, total, console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[figures]}"), console=console) as bar:
        task = bar.add_task(title, total=total, figures="")
        yield lambda done, figures: bar.update(task, completed=done, figures=_shown(figures))


def _lines(title: str, total: int, console: Console) -> Advance:
    begin = last = time.monotonic()
    first: int | None = None

    def advance(done: int, figures: dict[str, float]) -> None:
        nonlocal last, first
        now = time.monotonic()
        first = done if first is None else first
        if done == total or now - last >= SECONDS_BETWEEN_LINES:
            last = now
            left = (now - begin) / max(done - first, 1) * (total - done)
            console.print(f"{title} {done:,} of {total:,}, {left / 60:.1f} min left {_shown(figures)}".rstrip())

    return advance


def _shown(figures: dict[str, float]) -> str:
    return " ".join(f"{name} {value:.3f}" for name, value in figures.items())
