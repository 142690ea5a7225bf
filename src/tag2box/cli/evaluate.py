"""``tag2box evaluate``."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from tag2box.cli.arguments import TruthFile
from tag2box.cli.terminal import plain_console

if TYPE_CHECKING:
    from tag2box.product.judging import Judgement

HEADINGS = {"voc_11_points": "VOC 11 points", "voc_area": "VOC area", "coco_101_points": "COCO 101 points"}


def evaluate(
    boxes: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_OR_RESULTS",
            help="A folder written by tag2box localize, or a file written by tag2box detect.",
            show_default=False,
        ),
    ],
    truth: TruthFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Say how good boxes are: CorLoc of a run, and AP50 by three rules."""
    from tag2box.data import read_dataset
    from tag2box.product.judging import judge_file

    judgement = judge_file(boxes, read_dataset(truth))
    if as_json:
        typer.echo(json.dumps(judgement.as_json(), indent=1, ensure_ascii=False))
    else:
        plain_console().print(_table(judgement))


def _table(judgement: Judgement) -> Table:
    """A line for each class and one for their mean, in percent."""
    table = Table(title=f"{judgement.photos:,} photos; CorLoc and AP50 in %")
    table.add_column("class")
    for heading in (*(("photos", "CorLoc") if judgement.corloc else ()), *HEADINGS.values()):
        table.add_column(heading, justify="right")
    for label in next(iter(judgement.ap50.values())):
        precisions = [judgement.ap50[rule][label] for rule in HEADINGS]
        table.add_row(label, *_localized(judgement, label), *map(_percent, precisions))
    table.add_section()
    looked = sum(corloc.photos for corloc in judgement.corloc.values())
    localized = [f"{looked:,}", _percent(judgement.mean_corloc)] if judgement.corloc else []
    table.add_row("mean", *localized, *(_percent(judgement.mean_ap50[rule]) for rule in HEADINGS))
    return table


def _localized(judgement: Judgement, label: str) -> list[str]:
    """Photos and CorLoc of a class; nothing if nothing was localized at all."""
    if not judgement.corloc:
        return []
    corloc = judgement.corloc.get(label)
    return [f"{corloc.photos:,}", _percent(corloc.value)] if corloc else ["0", _percent(float("nan"))]


def _percent(share: float) -> str:
    return "–" if isnan(share) else f"{100 * share:.1f}"
