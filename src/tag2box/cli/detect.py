"""``tag2box detect`` and ``tag2box classes``: known things in new photos, and the files that know them."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tag2box.cli.arguments import ModelFolder, SkipBad
from tag2box.cli.terminal import plain_console, step_progress
from tag2box.data.formats.coco_results import coco_results, ids_from, ids_in_order
from tag2box.data.photo_files import PhotoFile, expand_places, find_photos, say_skipped, skipped_photos
from tag2box.errors import PhotoError
from tag2box.extract import open_pixels, unreadable_photos
from tag2box.files import write_json
from tag2box.model import Model
from tag2box.product.class_file import KnownClass, load_classes, merge_classes, require_extractor, save_classes
from tag2box.product.detecting import Detector, detect_photos, features_beside
from tag2box.types import Detections
from tag2box.viz import class_colours, draw_detections, drawing_paths


def detect(
    classes: Annotated[
        Path, typer.Argument(metavar="FILE.classes", help="Written by tag2box fit.", show_default=False)
    ],
    images: Annotated[list[str], typer.Argument(help="Pictures, folders or patterns like *.jpg.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", dir_okay=False, help="COCO results to write (.json): all, however unsure."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option("--ids-from", dir_okay=False, help="COCO file whose ids of photos and classes the results get."),
    ] = None,
    draw: Annotated[
        Path | None, typer.Option("--draw", file_okay=False, help="Folder for pictures with boxes.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each photo.")] = False,
    min_score: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="What to print and draw: 0.5 is each class's own threshold; lower finds more."
        ),
    ] = 0.5,
    skip_bad: SkipBad = False,
    model: ModelFolder = None,
) -> None:
    """Detect known things in new photos."""
    if truth is not None and output is None:
        raise typer.BadParameter("ids are for results: name a file for them with -o.", param_hint="--ids-from")
    console, known = plain_console(stderr=as_json), load_classes(classes)
    opened = Model.open(model, threads=1)
    require_extractor(known, opened.fingerprint, str(classes))
    places = expand_places(images)
    detector, photos = Detector(known, opened), find_photos(places)
    names = [photo.image_id for photo in photos]
    ids = ids_in_order(names, known.labels) if truth is None else ids_from(truth, names, known.labels)
    drawings, colours = drawing_paths(draw, photos) if draw is not None else {}, class_colours(known.labels)
    _make_folders(output and output.parent, draw)
    results: list[dict[str, Any]] = []
    unreadable: list[PhotoError] = []
    everything = detect_photos(detector, opened.extractor, photos, output and features_beside(output))
    with step_progress("Detecting", len(photos), console) as advance, closing(everything):
        for done, (photo, looked) in enumerate(everything, 1):
            advance(done, {})
            if isinstance(looked, PhotoError):
                unreadable.append(looked)
                continue
            results += coco_results(photo.image_id, looked.found, ids)
            shown = looked.found[looked.found.scores >= min_score]
            if drawings:
                draw_detections(drawings[photo.image_id], photo.path, looked.size, shown, colours, open_pixels)
            _print_photo(photo, shown, as_json, console)
    if output is not None:
        _write_results(results, output, console)
    if skipped := skipped_photos(places):
        console.print(say_skipped(skipped), soft_wrap=True)
    _report_unreadable(unreadable, len(photos), skip_bad, console)


def _make_folders(*folders: Path | None) -> None:
    """Make the folders for results: what cannot be written had better be known before the work."""
    for folder in folders:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)


def _print_photo(photo: PhotoFile, found: Detections, as_json: bool, console: Console) -> None:
    if as_json:
        boxes = [
            {"label": one.label, "score": round(one.score, 4), "box": [round(v, 1) for v in one.box]} for one in found
        ]
        line = {"file_name": photo.image_id, "path": str(photo.path), "detections": boxes}
        typer.echo(json.dumps(line, ensure_ascii=False))
        return
    said = ", ".join(f"{one.label} {one.score:.2f}" for one in found) or "nothing known here"
    console.print(f"{photo.image_id}: {said}", soft_wrap=True)


def _write_results(results: list[dict[str, Any]], output: Path, console: Console) -> None:
    """Write the results; then nobody needs to go on from the features any more."""
    write_json(output, results)
    shutil.rmtree(features_beside(output))
    found = sum(entry["found"] for entry in results)
    below = f", and {len(results) - found:,} below the threshold of their class" if len(results) > found else ""
    console.print(f"{found:,} detections in {output}{below}.", soft_wrap=True)


def _report_unreadable(unreadable: list[PhotoError], photos: int, skip_bad: bool, console: Console) -> None:
    if unreadable and not skip_bad:
        raise unreadable_photos(unreadable, photos)
    for error in unreadable:
        console.print(f"Left out: {error.wrong}", soft_wrap=True)


classes_app = typer.Typer(help="List, merge, adjust and remove the classes of class files.", no_args_is_help=True)

ClassFile = Annotated[Path, typer.Argument(help="A file written by tag2box fit.", show_default=False)]
Output = Annotated[
    Path, typer.Option("-o", "--output", dir_okay=False, help="Class file to write.", show_default=False)
]


@classes_app.command("list")
def list_classes(file: ClassFile) -> None:
    """Say what a class file knows."""
    known = load_classes(file)
    table = Table("class", "photos", "expected right", "found from", "learned", title=f"{file} · {known.fingerprint}")
    for each in known.classes:
        photos, learned = (str(each.provenance.get(name, "?")) for name in ("photos", "learned"))
        table.add_row(each.label, photos, _expected_right(each), f"{each.min_score:g}", learned)
    plain_console().print(table)


def _expected_right(known: KnownClass) -> str:
    doubt = known.provenance.get("mean_doubt")
    return f"{1.0 - doubt:.0%}" if isinstance(doubt, float) else "?"


@classes_app.command("merge")
def merge(
    files: Annotated[list[Path], typer.Argument(help="Class files of one extractor.", show_default=False)],
    output: Output,
) -> None:
    """Put the classes of several files into one."""
    sets = [load_classes(file) for file in files]
    for file, each in zip(files, sets, strict=True):
        require_extractor(each, sets[0].fingerprint, str(file))
    known = merge_classes(sets)
    save_classes(output, known)
    plain_console().print(f"{', '.join(known.labels) or 'nothing'} in {output}.", soft_wrap=True)


@classes_app.command("threshold")
def threshold(
    file: ClassFile,
    name: Annotated[str, typer.Argument(help="The class.", show_default=False)],
    score: Annotated[float, typer.Argument(help="0.5 is as it was learned; 0.7 finds less, and less that is wrong.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", dir_okay=False, help="Class file to write; else the same.")
    ] = None,
) -> None:
    """Say from which score on a class counts as found; that score is shown as 0.5 from then on."""
    known = load_classes(file).found_from(name, score)
    save_classes(output or file, known)
    plain_console().print(f"{name} counts as found from {score:g} on in {output or file}.", soft_wrap=True)


@classes_app.command("remove")
def remove(
    file: ClassFile,
    names: Annotated[list[str], typer.Argument(help="Classes to remove.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", dir_okay=False, help="Class file to write; else the same.")
    ] = None,
) -> None:
    """Forget classes; the others stay as they are."""
    left = load_classes(file).without(names)
    save_classes(output or file, left)
    said = ", ".join(left.labels) or "nothing"
    plain_console().print(f"{said} left in {output or file}.", soft_wrap=True)
