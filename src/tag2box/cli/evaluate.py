"""``tag2box evaluate``."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tag2box.cli.terminal import plain_console
from tag2box.data import read_truth
from tag2box.data.formats.coco_results import FOUND
from tag2box.product.judging import AtThreshold, Judgement, judge_file

HEADINGS = {"voc_11_points": "VOC 11 points", "voc_area": "VOC area", "coco_101_points": "COCO 101 points"}
REACHED = ("precision", "recall")
"""Of the detections from the threshold on."""


def evaluate(
    boxes: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_OR_RESULTS",
            help="A folder written by tag2box localize, or a file written by tag2box detect.",
            show_default=False,
        ),
    ],
    truth: Annotated[
        Path,
        typer.Option(
            "--truth",
            help="True boxes of some or all of the photos: COCO, Label Studio (.json), CVAT (.xml), YOLO (data.yaml), "
            "a VOC folder, or an image set of VOC or ILSVRC DET (.txt).",
            show_default=False,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Say how good boxes are: CorLoc of a run, AP50 by three rules, and what detections reach at their threshold."""
    judgement = judge_file(boxes, read_truth(truth))
    if as_json:
        typer.echo(json.dumps(judgement.as_json(), indent=1, ensure_ascii=False))
        return
    console = plain_console()
    console.print(_table(judgement))
    if judgement.without_truth:
        without = judgement.without_truth
        said = "1 photo has" if without == 1 else f"{without:,} photos have"
        console.print(f"{said} no truth and {'is' if without == 1 else 'are'} not judged.", soft_wrap=True)


def _table(judgement: Judgement) -> Table:
    """A line for each class and one for their mean, in percent."""
    detected = f"AP50, and precision and recall from a score of {FOUND} on,"
    measured = detected if judgement.at_threshold else "CorLoc and AP50"
    table = Table(title=f"{judgement.photos:,} photos; {measured} in %")
    table.add_column("class")
    reached = REACHED if judgement.at_threshold else ()
    for heading in (*(("photos", "CorLoc") if judgement.corloc else ()), *HEADINGS.values(), *reached):
        table.add_column(heading, justify="right")
    for label in next(iter(judgement.ap50.values())):
        precisions = [judgement.ap50[rule][label] for rule in HEADINGS]
        shares = _shares(judgement.at_threshold.get(label))
        table.add_row(label, *_localized(judgement, label), *map(_percent, [*precisions, *shares]))
    table.add_section()
    looked = sum(corloc.photos for corloc in judgement.corloc.values())
    localized = [f"{looked:,}", _percent(judgement.mean_corloc)] if judgement.corloc else []
    means = [judgement.mean_ap50[rule] for rule in HEADINGS]
    shares = _shares(judgement.mean_at_threshold if judgement.at_threshold else None)
    table.add_row("mean", *localized, *map(_percent, [*means, *shares]))
    return table


def _shares(reached: AtThreshold | None) -> list[float]:
    return [reached.precision, reached.recall] if reached else []


def _localized(judgement: Judgement, label: str) -> list[str]:
    """Photos and CorLoc of a class; nothing if nothing was localized at all."""
    if not judgement.corloc:
        return []
    corloc = judgement.corloc.get(label)
    return [f"{corloc.photos:,}", _percent(corloc.value)] if corloc else ["0", _percent(float("nan"))]


def _percent(share: float) -> str:
    return "–" if isnan(share) else f"{100 * share:.1f}"
