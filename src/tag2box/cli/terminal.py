"""What commands print to and say there: words as they are, progress, the version, what is not installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import metadata
from importlib.util import find_spec

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tag2box.errors import InputError
from tag2box.product.events import TITLES, Advanced, Began, Ended, Event, Listener
from tag2box.progress import Report, silent

SECONDS_BETWEEN_LINES = 30.0


def plain_console(*, stderr: bool = False) -> Console:
    """Prints words as they are: a name with [brackets] or :colons: in it is still that name."""
    return Console(highlight=False, markup=False, emoji=False, stderr=stderr)


@contextmanager
def step_progress(title: str, total: int, console: Console) -> Iterator[Report]:
    """Progress with the time that is left: a bar on a terminal, a line now and then elsewhere."""
    if not console.is_terminal:
        yield _lines(title, total, console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[figures]}"), console=console) as bar:
        task = bar.add_task(title, total=total, figures="")
        yield lambda done, figures: bar.update(task, completed=done, figures=_shown(figures))


@contextmanager
def show_stages(console: Console) -> Iterator[Listener]:
    """Shows the stages of a run as they come, each with the time that is left."""
    with ExitStack() as shown:
        report: Report = silent

        def listen(event: Event) -> None:
            nonlocal report
            if isinstance(event, Began):
                report = shown.enter_context(step_progress(TITLES[event.stage], event.total, console))
            elif isinstance(event, Advanced):
                report(event.done, {})
            elif isinstance(event, Ended):
                shown.close()

        yield listen


def _lines(title: str, total: int, console: Console) -> Report:
    begin = last = time.monotonic()
    first: int | None = None

    def report(done: int, figures: dict[str, float]) -> None:
        nonlocal last, first
        now = time.monotonic()
        first = done if first is None else first
        if done == total or now - last >= SECONDS_BETWEEN_LINES:
            last = now
            left = (now - begin) / max(done - first, 1) * (total - done)
            words = f"{title} {done:,} of {total:,}, {left / 60:.1f} min left {_shown(figures)}"
            console.print(words.rstrip(), soft_wrap=True)

    return report


def _shown(figures: dict[str, float]) -> str:
    return " ".join(f"{name} {value:.3f}" for name, value in figures.items())


def require_extra(extra: str, *modules: str) -> None:
    """Refuse to go on without the modules that an extra installs."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise InputError(
            f"{', '.join(missing)} is not installed.", f"the extra {extra!r}", f"pip install 'tag2box[{extra}]'"
        )


def name_and_version() -> str:
    """What a report of a bug should begin with."""
    try:
        return f"tag2box {metadata.version('tag2box')}"
    except metadata.PackageNotFoundError:
        return "tag2box, not installed"


def print_version(wanted: bool) -> None:
    """Print the version and end, if that is wanted."""
    if wanted:
        typer.echo(name_and_version())
        raise typer.Exit
