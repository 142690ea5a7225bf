"""The command line: reads arguments, prints results, turns errors into exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any, final

import typer
from typer.core import TyperCommand, TyperGroup

from tag2box.cli.bench import bench_app
from tag2box.cli.detect import classes_app, detect
from tag2box.cli.endings import exit_code_of
from tag2box.cli.evaluate import evaluate
from tag2box.cli.label_studio import label_studio_app
from tag2box.cli.look import demo, doctor
from tag2box.cli.measure import measure_app
from tag2box.cli.model import background, model_app, train
from tag2box.cli.photos import export, fit, localize
from tag2box.cli.store import extract, store_app
from tag2box.cli.studio import studio
from tag2box.cli.terminal import print_version

PANELS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
    "Your photos": {
        "studio": studio,
        "localize": localize,
        "fit": fit,
        "detect": detect,
        "export": export,
        "evaluate": evaluate,
        "classes": classes_app,
        "labelstudio": label_studio_app,
    },
    "Look": {"demo": demo, "doctor": doctor},
    "Research": {
        "extract": extract,
        "train": train,
        "background": background,
        "model": model_app,
        "bench": bench_app,
        "measure": measure_app,
        "store": store_app,
    },
}
"""Every command, in the panels and the order of ``tag2box --help``, which lists groups of commands last."""


def _flags_take_nothing(params: list[Any]) -> list[Any]:
    """The same arguments and options; typer would show flags as if they wanted a ``<bool>``."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


@final
class PlainCommand(TyperCommand):
    """A command whose help shows ``--json`` and not ``--json <bool>``."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options, with ``--help``."""
        return _flags_take_nothing(super().get_params(ctx))


@final
class PlainGroup(TyperGroup):
    """The same for a group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options, with ``--help``."""
        return _flags_take_nothing(super().get_params(ctx))


app = typer.Typer(
    name="tag2box",
    cls=PlainGroup,
    help="Tags in, boxes out: finds the thing you tagged in every photo and learns to detect it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


for _panel, _commands in PANELS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            for _part in _command.registered_commands:
                _part.cls = PlainCommand
            app.add_typer(_command, name=_name, cls=PlainGroup, rich_help_panel=_panel)
        else:
            app.command(_name, cls=PlainCommand, rich_help_panel=_panel)(_command)


def main() -> None:
    """Run the command line; exit code 0: done, 1: a bug of ours, 2: the input is wrong, 130: stopped by Ctrl-C."""
    sys.exit(exit_code_of(app))
