"""Arguments that several commands share, described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

A_DATASET = "COCO annotations (.json), or an image set of VOC or ILSVRC DET (.txt)"

StoreFolder = Annotated[Path, typer.Argument(help="A folder written by tag2box extract.", show_default=False)]
TruthFile = Annotated[Path, typer.Option("--truth", help=f"Boxes: {A_DATASET}.", show_default=False)]
TruthFiles = Annotated[
    list[Path], typer.Option("--truth", help=f"Boxes: {A_DATASET}. May be repeated.", show_default=False)
]
DatasetFiles = Annotated[list[Path], typer.Argument(help=f"Base images: {A_DATASET}.", show_default=False)]
SplitName = Annotated[str, typer.Option("--split", help="Which classes are base: coco60, coco63, voc1, …")]
ModelFolder = Annotated[
    Path | None, typer.Option("--model", help="Folder of a model; without one, the model that ships.")
]
ModelFolders = Annotated[
    list[Path],
    typer.Option(
        "--model",
        help="Folders of models, of which a table takes the first that has not learned its classes; without, the "
        "model that ships.",
    ),
]
DataFolder = Annotated[
    Path, typer.Option("--data", help="Photos and annotations; datasets.toml in it may say where.", show_default=False)
]
FeatureFolder = Annotated[
    Path, typer.Option("--store", help="Where features and results are kept.", show_default=False)
]
SettingsFile = Annotated[
    Path | None, typer.Option("--settings", help="What tag2box bench tune has chosen; without, the model's settings.")
]
TaggedPhotos = Annotated[
    Path,
    typer.Argument(
        help="A folder with a folder for each tag, or with metadata.csv; or a COCO, VOC, YOLO, Label Studio or CVAT "
        "file, of which only the tags are used.",
        show_default=False,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="A Ray cluster that sees photos and output by the same names, or local."
    ),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out pictures that cannot be read.")]
