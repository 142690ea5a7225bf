"""``tag2box demo`` and ``tag2box doctor``: what it does, and whether it can do it here."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from tag2box.cli.endings import WRONG_INPUT, exit_code_of
from tag2box.cli.terminal import plain_console, show_stages
from tag2box.product.doctor import Finding, State, examine

SIGNS = {"ok": "✓", "note": "·", "problem": "✗"}
PLAIN_SIGNS = {"ok": "+", "note": "-", "problem": "x"}
COLOURS = {"ok": "green", "note": "yellow", "problem": "red"}


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the report and the results.")] = Path(
        "demo-run"
    ),
) -> None:
    """Run the whole story on photos that ship with the package, offline: localize, fit, detect, evaluate."""
    from tag2box.product.demo import run_demo

    console = plain_console()
    output.mkdir(parents=True, exist_ok=True)
    with show_stages(console) as show:
        results = run_demo(output, console.print, show)
    table = Table(title="What the tags alone taught")
    table.add_column("measure")
    table.add_column("result", justify="right")
    table.add_row("boxes right, tagged photos", f"{results.localized_right} of {results.localized}")
    table.add_row(f"AP50, PASCAL 11 points, {results.query_photos} new photos", f"{results.ap50_voc_11_points:.1%}")
    table.add_row("AP50, PASCAL area", f"{results.ap50_voc_area:.1%}")
    table.add_row("AP50, COCO 101 points", f"{results.ap50_coco_101_points:.1%}")
    console.print(table)
    console.print(
        f"Open {output / 'report.html'} to see the boxes, and em.png beside it for EM at work.", soft_wrap=True
    )


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False) -> None:
    """Say what is installed, missing or wrong; exit code 2 if something is wrong."""
    console = plain_console()
    found = []
    for finding in examine():
        found.append(finding)
        if not as_json:
            console.print(_line(finding), soft_wrap=True)
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in found], indent=1, ensure_ascii=False))
    if any(finding.state == State.PROBLEM for finding in found):
        raise typer.Exit(WRONG_INPUT)


def doctor_alone() -> None:
    """Let the doctor speak, whatever was asked for: where a package is missing, no other command can be imported."""
    alone = typer.Typer(pretty_exceptions_enable=False)
    alone.command()(doctor)
    sys.exit(exit_code_of(lambda: alone([word for word in sys.argv if word == "--json"])))


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
