"""``tag2box export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tag2box.cli.terminal import plain_console


def export(
    run: Annotated[Path, typer.Argument(help="A folder written by tag2box localize.", show_default=False)],
    to: Annotated[
        str, typer.Option("--to", help="coco, yolo, voc, labelstudio, cvat; commas between.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder that gets one folder for each format.", show_default=False)
    ],
    max_doubt: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Leave out boxes that are more doubtful.")
    ] = None,
) -> None:
    """Write photos and boxes for other tools."""
    from tag2box.product.exports import export_run
    from tag2box.product.labelled import read_boxes

    labelled = read_boxes(run)
    formats = [name.strip().lower() for name in to.split(",") if name.strip()]
    console = plain_console()
    for folder in export_run(labelled, formats, output, max_doubt):
        console.print(f"{len(labelled.photos):,} photos into {folder}.", soft_wrap=True, markup=False)
