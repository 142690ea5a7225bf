"""``tag2box train``, ``background`` and ``model``: from base photos with boxes to a model that finds other things."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tag2box.cli.arguments import DataFolder, DatasetFiles, FeatureFolder, SplitName, TruthFiles
from tag2box.cli.terminal import plain_console, require_extra, step_progress
from tag2box.data import Draws, held_out_classes, load_split, read_dataset
from tag2box.data.splits import HELD_OUT_KINDS
from tag2box.experiments.model_making import Making, make_model
from tag2box.extract import read_card
from tag2box.methods.localizers import VmfBackground
from tag2box.model import save_knowledge
from tag2box.store import FeatureStore
from tag2box.training import fit_knowledge
from tag2box.training.detector.recipe import Recipe, read_recipe
from tag2box.training.kinship import KINSHIP
from tag2box.training.objectness import PHOTOS, calibrate, clean_images

model_app = typer.Typer(help="Make models that the product opens.", no_args_is_help=True)


def train(
    datasets: DatasetFiles,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the run.", show_default=False)],
    recipe: Annotated[
        Path | None, typer.Option(help="TOML file with the settings; without one, those of the model that ships.")
    ] = None,
    split: SplitName = "coco60",
    hold_out: Annotated[
        bool,
        typer.Option("--hold-out", help=f"Never show it {', '.join(HELD_OUT_KINDS)}: settings are chosen on these."),
    ] = False,
    censored: Annotated[
        bool,
        typer.Option("--censored", help="Leave out photos that show a novel class of the split (the paper's COCO63)."),
    ] = False,
    begin_with: Annotated[
        Path | None,
        typer.Option(help="Folder of a model to begin with, such as the twin's: it has learned most of it already."),
    ] = None,
    device: Annotated[str, typer.Option(help="Where to compute: auto takes a GPU where there is one.")] = "auto",
) -> None:
    """Train the detector that proposes and describes regions; an interrupted run goes on where it was."""
    require_extra("train", "torch", "onnx", "onnxruntime")
    from tag2box.training.detector.examples import training_examples
    from tag2box.training.detector.loop import train_detector
    from tag2box.training.detector.projecting import BATCHES, fit_projection
    from tag2box.training.detector.run import MODEL_NAME, begin_training, finish_training
    from tag2box.training.detector.workers import device_named, is_first_worker

    place = device_named(device)
    settings = read_recipe(recipe) if recipe is not None else Recipe()
    classes = load_split(split)
    labelled = [read_dataset(path) for path in datasets]
    unseen = (*(held_out_classes(classes.base) if hold_out else ()), *(classes.novel if censored else ()))
    examples = training_examples(labelled, classes.base, unseen, partial_files=settings.partial_files)
    console = Console(highlight=False, quiet=not is_first_worker())
    begin_training(output, settings, examples, begin_with)
    boxes = sum(len(example.boxes) for example in examples.items)
    console.print(f"{len(examples):,} photos, {boxes:,} objects, {len(examples.classes)} classes.")
    with step_progress("Training", settings.steps, console) as report:
        detector = train_detector(output, settings, examples, report, place, begin_with)
    if settings.projected and is_first_worker():
        with step_progress("Projecting", BATCHES, console) as report:
            fit_projection(detector, settings, examples, report)
    finish_training(output, detector, settings, examples, begin_with)
    if is_first_worker():
        with step_progress("Calibrating objectness", PHOTOS, console) as report:
            calibrate(output / MODEL_NAME, labelled, report)
    console.print(f"Wrote the detector to {output / MODEL_NAME}.", soft_wrap=True, markup=False)
    console.print("Next: tag2box model make, which turns it into a model that the product opens.", soft_wrap=True)


def background(
    stores: Annotated[list[Path], typer.Argument(help="Feature stores of base images.", show_default=False)],
    truth: TruthFiles,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.", show_default=False)],
    split: SplitName = "coco60",
    components: Annotated[int, typer.Option(min=1, help="1 is the paper's; more make a mixture.")] = 1,
    center: Annotated[bool, typer.Option(help="Subtract the mean of the base features first.")] = True,
    seed: Annotated[int, typer.Option(min=0, help="Draws the regions.")] = 0,
) -> None:
    """Learn what base regions look like: the background from images without novel objects, and all else beside it."""
    console = plain_console()
    opened, labelled = [FeatureStore(folder) for folder in stores], [read_dataset(path) for path in truth]
    base = load_split(split).base
    with step_progress("Learning what base regions look like", KINSHIP.steps, console) as report:
        known = fit_knowledge(opened, labelled, base, components=components, centered=center, seed=seed, report=report)
    save_knowledge(output, known)
    fitted = known.background
    kappas = [fitted.vmf.kappa] if isinstance(fitted, VmfBackground) else fitted.mixture.kappas.tolist()
    shown = ", ".join(f"{kappa:.0f}" for kappa in kappas)
    console.print(f"{known.regions:,} regions of {known.images:,} images; concentration {shown}.")
    console.print(f"Wrote {output}.", soft_wrap=True)


@model_app.command("quantise")
def quantise(
    detector: Annotated[Path, typer.Argument(help="Folder `model` of a training run.", show_default=False)],
    datasets: DatasetFiles,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to.", show_default=False)],
) -> None:
    """Let a detector compute with bytes: about twice as fast, where a processor has instructions for that.

    Its features are others than before, so this comes before tag2box model make, for the detector and for its twin.
    """
    require_extra("train", "torch", "onnx", "onnxruntime")
    from tag2box.training.detector import quantising

    console, labelled = plain_console(), [read_dataset(path) for path in datasets]
    images = clean_images(labelled, read_card(detector).trained_on["classes"])
    photos = [image.path for image in Draws("quantise").sample(images, min(quantising.PHOTOS, len(images)))]
    with step_progress("Looking at ranges", len(photos), console) as report:
        quantising.quantise_model(detector, photos, output, report)
    with step_progress("Calibrating objectness", PHOTOS, console) as report:
        calibrate(output, labelled, report)
    console.print(f"Wrote the detector to {output}.", soft_wrap=True, markup=False)


@model_app.command("make")
def make(
    detector: Annotated[Path, typer.Argument(help="Folder `model` of a training run.", show_default=False)],
    data: DataFolder,
    store: FeatureFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the model.", show_default=False)],
    held_out: Annotated[
        Path | None,
        typer.Option("--held-out", help="Folder `model` of the same training with --hold-out: choices are made there."),
    ] = None,
    like: Annotated[
        Path | None, typer.Option("--like", help="Without --held-out: the model whose choices are taken over.")
    ] = None,
    tasks: Annotated[int, typer.Option(min=1, help="Held-out tasks that each choice is made on.")] = 2000,
    shots: Annotated[int, typer.Option(min=2, help="Photos of a task.")] = 5,
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Turn a trained detector into a model that the product opens: what it knows, what is chosen, how far to trust it.

    Runs unattended; the same command goes on where it stopped.
    """
    console = plain_console()
    asked = Making(detector, data, store, held_out, like, shots=shots, tasks=tasks, seed=seed)
    say = partial(console.print, soft_wrap=True)
    made = make_model(asked, output, partial(step_progress, console=console), say)
    console.print(f"Wrote {made.fingerprint} to {output}.", soft_wrap=True)
