"""``tag2box train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tag2box.cli.arguments import DatasetFiles, SplitName
from tag2box.cli.terminal import require_extra, step_progress
from tag2box.data import hold_out_classes, load_split, read_dataset
from tag2box.training.detector.recipe import Recipe, read_recipe
from tag2box.training.objectness import PHOTOS, calibrate


def train(
    datasets: DatasetFiles,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the run.", show_default=False)],
    recipe: Annotated[
        Path | None, typer.Option(help="TOML file with the settings; without one, those of the model that ships.")
    ] = None,
    split: SplitName = "coco60",
    hold_out: Annotated[int, typer.Option(min=0, help="Base classes to leave unlabelled, for choosing settings.")] = 0,
) -> None:
    """Train the detector that proposes and describes regions; an interrupted run goes on where it was."""
    require_extra("train", "torch", "onnx", "onnxruntime")
    from tag2box.training.detector.examples import training_examples
    from tag2box.training.detector.loop import train_detector
    from tag2box.training.detector.run import MODEL_NAME, begin_training, finish_training
    from tag2box.training.detector.workers import is_first_worker

    settings = read_recipe(recipe) if recipe is not None else Recipe()
    base = load_split(split).base
    labelled = [read_dataset(path) for path in datasets]
    examples = training_examples(labelled, base, hold_out_classes(base, hold_out))
    console = Console(highlight=False, quiet=not is_first_worker())
    begin_training(output, settings, examples)
    boxes = sum(len(example.boxes) for example in examples.items)
    console.print(f"{len(examples):,} photos, {boxes:,} objects, {len(examples.classes)} classes.")
    with step_progress("Training", settings.steps, console) as report:
        detector = train_detector(output, settings, examples, report)
    finish_training(output, detector, settings, examples)
    if is_first_worker():
        with step_progress("Calibrating objectness", PHOTOS, console) as report:
            calibrate(output / MODEL_NAME, labelled, report)
    console.print(f"Wrote the model to {output / MODEL_NAME}.", soft_wrap=True, markup=False)
