"""``tag2box --version``."""

from __future__ import annotations

from importlib import metadata

import typer


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
