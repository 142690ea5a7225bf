"""A run's folder: the settings it began with, the losses as a picture, the exported model."""

from __future__ import annotations

from pathlib import Path

from tag2box.errors import TrainingError
from tag2box.files import write_json
from tag2box.training.detector.checkpoint import CHECKPOINT_NAME
from tag2box.training.detector.examples import Examples
from tag2box.training.detector.export import export_model
from tag2box.training.detector.journal import JOURNAL_NAME, read_journal
from tag2box.training.detector.loop import Detector
from tag2box.training.detector.recipe import Recipe
from tag2box.training.detector.workers import is_first_worker
from tag2box.viz import draw_losses

RUN_NAME = "run.json"
MODEL_NAME = "model"


def begin_run(folder: Path, recipe: Recipe, examples: Examples) -> None:
    """Make the folder and write down what is trained on what; a run that goes on stays what it was."""
    if not is_first_worker() or (folder / CHECKPOINT_NAME).exists():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / RUN_NAME, {"recipe": recipe.to_json(), "trained_on": trained_on(examples)})
    except OSError as error:
        raise TrainingError(
            f"the folder {folder} cannot be written: {error.strerror}.", "a folder to write to", "choose another one."
        ) from error


def finish_run(folder: Path, detector: Detector, recipe: Recipe, examples: Examples) -> None:
    """Draw the losses and export the model."""
    if not is_first_worker():
        return
    draw_losses(folder / "losses.png", read_journal(folder / JOURNAL_NAME))
    export_model(folder / MODEL_NAME, detector, recipe, trained_on(examples))


def trained_on(examples: Examples) -> dict[str, object]:
    """What a card says of the data."""
    objects = sum(len(example.boxes) for example in examples.items)
    return {"classes": list(examples.classes), "photos": len(examples), "objects": objects}
