"""``tag2box localize``, ``fit`` and ``export``: tagged photos to boxes, to a detector, and into other tools."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tag2box.cli.arguments import Cluster, ModelFolder, SkipBad, TaggedPhotos
from tag2box.cli.terminal import plain_console, show_stages
from tag2box.data import read_tags, read_truth, write_formats
from tag2box.data.formats.coco import BOXES_NAME, read_boxes
from tag2box.data.formats.coco_results import FOUND, labelled_results
from tag2box.data.photo_files import say_skipped
from tag2box.data.tags import TagSet
from tag2box.model import Model
from tag2box.product.class_file import load_classes, merge_classes, require_extractor, require_new, save_classes
from tag2box.product.corrections import Journal
from tag2box.product.finding import Found, PhotoBox, need_a_look
from tag2box.product.machines import HERE, Machines
from tag2box.product.run import Run
from tag2box.words import counted


def localize(
    photos: TaggedPhotos,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for boxes and report.", show_default=False)],
    all_instances: Annotated[
        bool, typer.Option("--all-instances", help="Also look for more of the same in each photo.")
    ] = False,
    error_rate: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of wrong boxes that you accept among those not shown to you.")
    ] = 0.2,
    corrections: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="What a person said about the photos (corrections.jsonl of a run): it counts here too.",
        ),
    ] = None,
    trusted: Annotated[
        Path | None,
        typer.Option(exists=True, help="Annotations of some of the photos, in any format, whose boxes are right."),
    ] = None,
    skip_bad: SkipBad = False,
    model: ModelFolder = None,
    cluster: Cluster = None,
) -> None:
    """Find the tagged things: tags in, boxes out."""
    console = plain_console()
    said = Journal(corrections).said() if corrections is not None else []
    truth = read_truth(trusted) if trusted is not None else None
    tags, opened, machines = read_tags(photos), Model.open(model, threads=1), Machines(cluster)
    with (
        _begin(output, tags, opened, console, machines) as run,
        machines.connected(),
        show_stages(console) as show,
    ):
        run.extract(show, skip_bad=skip_bad)
        run.take_over(said)
        believed = run.trust(truth, str(trusted)) if truth is not None else 0
        found = run.localize(show, all_instances=all_instances, error_rate=error_rate)
        report = run.report(show)
    if truth is not None:
        console.print(f"  {counted(believed, 'box')} of {trusted} taken as they are.", soft_wrap=True)
    look, verdicts = need_a_look(found.by_doubt(), error_rate), found.verdicts()
    for one in found.learned:
        mine = [each for each in look if each.box.label == one.label]
        words = f"{len(mine) or 'none'} {'need' if len(mine) > 1 else 'needs'} a look"
        right = f"about {one.expected_right:.0f} boxes right"
        verdict = "" if verdicts[one.label].state == "found" else f" {verdicts[one.label].words}"
        console.print(f"  {one.label}: {counted(len(one.photos), 'photo')}, {right}, {words}.{verdict}", soft_wrap=True)
    _print_left_out(found, run, console)
    _print_suspects(found.suspects(), console)
    for name in run.known().strangers:
        console.print(f"  Somebody spoke of {name}, which is not among the photos; that is kept.", soft_wrap=True)
    console.print(f"Boxes: {output / BOXES_NAME}\nReport: {report}", soft_wrap=True)


def fit(
    photos: TaggedPhotos,
    output: Annotated[
        Path, typer.Option("-o", "--output", dir_okay=False, help="Class file to write.", show_default=False)
    ],
    add_to: Annotated[
        Path | None, typer.Option("--add-to", help="Class file whose classes are kept beside the new ones.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="Folder of a localize run on these photos: its features are used again.")
    ] = None,
    skip_bad: SkipBad = False,
    model: ModelFolder = None,
) -> None:
    """Learn a detector of the tagged things."""
    console = plain_console()
    tags, opened = read_tags(photos), Model.open(model, threads=1)
    before = [load_classes(add_to)] if add_to is not None else []
    for old in before:
        require_extractor(old, opened.fingerprint, str(add_to))
        require_new(tags.classes, old, str(add_to))
    output.parent.mkdir(parents=True, exist_ok=True)  # if that fails, then now
    folder = run if run is not None else output.with_name(f".{output.name}.run")
    with _begin(folder, tags, opened, console) as work, show_stages(console) as show:
        work.extract(show, skip_bad=skip_bad)
        found = work.find(show)
        known = merge_classes([*before, work.learn()])
    save_classes(output, known)
    if run is None:
        shutil.rmtree(folder)  # until here, the same command would have gone on from there
    for one in found.learned:
        right = f"about {one.expected_right:.0f} of them understood"
        console.print(f"  {one.label}: {counted(len(one.photos), 'photo')}, {right}.", soft_wrap=True)
    _print_left_out(found, work, console)
    size = f"{output.stat().st_size:,} bytes"
    console.print(f"{counted(len(known.classes), 'class', 'classes')} in {output} ({size}).", soft_wrap=True)


def export(
    boxes: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_OR_RESULTS",
            help="A folder written by tag2box localize, or a file written by tag2box detect.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="To correct: labelstudio, cvat, fiftyone. To train: coco, yolo, voc, roboflow (also RF-DETR), "
            "huggingface. Commas between.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder that gets one folder for each format.", show_default=False)
    ],
    max_doubt: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Of a run: leave out boxes of more doubt, and photos that have no other."),
    ] = None,
    photos: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="Of detections: the folder of the photos.")
    ] = None,
    min_score: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Of detections: 0.5 is each class's own threshold.")
    ] = FOUND,
) -> None:
    """Write photos and boxes for other tools: those of a run, or detections in new photos, to be corrected there."""
    formats = [name.strip().lower() for name in to.split(",") if name.strip()]
    if photos is not None and max_doubt is not None:
        raise typer.BadParameter("detections have a score and no doubt: use --min-score.", param_hint="--max-doubt")
    labelled = read_boxes(boxes) if photos is None else labelled_results(boxes, photos, min_score)
    written = write_formats(labelled, formats, output, max_doubt)
    console = plain_console()
    for folder in written.folders:
        console.print(f"{counted(written.photos, 'photo')} into {folder}.", soft_wrap=True)
    if written.parts:
        said = ", ".join(f"{photos:,} {part}" for part, photos in written.parts.items())
        console.print(f"Split by the names of the photos: {said}.", soft_wrap=True)
    if written.left_out:
        said = f"{counted(written.left_out, 'photo')} left out: something is in each, and no box of it is exported."
        console.print(said, soft_wrap=True)


def _begin(folder: Path, tags: TagSet, model: Model, console: Console, machines: Machines = HERE) -> Run:
    """Say what was given, and begin."""
    run = Run.begin(folder, tags, model, machines)
    none = sum(not photo.tags for photo in tags.photos)
    beside = f", {none:,} of them with none" if none else ""
    photos, words = counted(len(tags.photos), "photo"), counted(len(tags.classes), "tag")
    console.print(f"{photos} with {words} ({tags.source}){beside}.", soft_wrap=True)
    if tags.skipped:
        console.print(say_skipped(tags.skipped), soft_wrap=True)
    return run


def _print_left_out(found: Found, run: Run, console: Console) -> None:
    for label in found.left_out:
        console.print(f"  {label}: left out, it has one photo only; nothing can be common to one.", soft_wrap=True)
    for error in run.unreadable.values():
        console.print(f"  Left out: {error.wrong}", soft_wrap=True)


def _print_suspects(suspects: list[PhotoBox], console: Console) -> None:
    for each in suspects:
        likely = f"({each.box.absence:.0%} likely not)"
        console.print(f"  Is {each.box.label!r} really in {each.photo}? {likely}", soft_wrap=True)
