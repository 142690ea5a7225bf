"""The command line: reads arguments, prints results, turns errors into exit codes."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from tag2box.cli.background import background
from tag2box.cli.bench import bench_app
from tag2box.cli.demo import demo
from tag2box.cli.extract import extract
from tag2box.cli.measure import measure_app
from tag2box.cli.store import store_app
from tag2box.cli.train import train
from tag2box.errors import InputError

WRONG_INPUT = 2

app = typer.Typer(
    name="tag2box",
    help="Tags in, boxes out: finds the thing you tagged in every photo and learns to detect it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(extract)
app.command()(train)
app.command()(background)
app.add_typer(bench_app, name="bench")
app.add_typer(store_app, name="store")
app.add_typer(measure_app, name="measure")


def main() -> None:
    """Run the command line; exit code 0: done, 1: a bug of ours, 2: the input is wrong."""
    try:
        app()
    except InputError as error:
        console = Console(stderr=True, highlight=False)
        console.print(f"tag2box: {error}", markup=False, soft_wrap=True)
        sys.exit(WRONG_INPUT)
