"""``tag2box doctor``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from tag2box.product.doctor import Finding

SIGNS = {"ok": "✓", "note": "·", "problem": "✗"}
PLAIN_SIGNS = {"ok": "+", "note": "-", "problem": "x"}
COLOURS = {"ok": "green", "note": "yellow", "problem": "red"}
WRONG = 2


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False) -> None:
    """Say what is installed, missing or wrong; exit code 2 if something is wrong."""
    from tag2box.product.doctor import State, examine

    console = Console(highlight=False)
    found = []
    for finding in examine():
        found.append(finding)
        if not as_json:
            console.print(_line(finding), soft_wrap=True)
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in found], indent=1, ensure_ascii=False))
    if any(finding.state == State.PROBLEM for finding in found):
        raise typer.Exit(WRONG)


def _line(finding: Finding) -> Text:
    """A sign, what was looked at and what was found; what to do stands below."""
    line = Text.assemble((_signs()[finding.state], COLOURS[finding.state]), f" {finding.name:13s}{finding.words}")
    return line.append(f"\n  what to do:  {finding.remedy}") if finding.remedy else line


def _signs() -> dict[str, str]:
    """The signs, or letters where the terminal cannot show them."""
    try:
        "".join(SIGNS.values()).encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return PLAIN_SIGNS
    return SIGNS
