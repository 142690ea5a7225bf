"""``tag2box export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tag2box.cli.terminal import plain_console
from tag2box.data import write_formats
from tag2box.data.formats.coco import read_boxes


def export(
    run: Annotated[Path, typer.Argument(help="A folder written by tag2box localize.", show_default=False)],
    to: Annotated[
        str, typer.Option("--to", help="coco, yolo, voc, labelstudio, cvat; commas between.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder that gets one folder for each format.", show_default=False)
    ],
    max_doubt: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Leave out boxes that are more doubtful, and photos that have no other."),
    ] = None,
) -> None:
    """Write photos and boxes for other tools."""
    formats = [name.strip().lower() for name in to.split(",") if name.strip()]
    written = write_formats(read_boxes(run), formats, output, max_doubt)
    console = plain_console()
    for folder in written.folders:
        console.print(f"{_photos(written.photos)} into {folder}.", soft_wrap=True, markup=False)
    if written.left_out:
        said = f"{_photos(written.left_out)} left out: something is in each, and no box of it is exported."
        console.print(said, soft_wrap=True, markup=False)


def _photos(count: int) -> str:
    return "1 photo" if count == 1 else f"{count:,} photos"
