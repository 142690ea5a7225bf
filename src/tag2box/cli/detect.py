"""``tag2box detect``."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tag2box.cli.arguments import ModelFolder, SkipBad
from tag2box.cli.terminal import plain_console, step_progress
from tag2box.data.formats.coco_results import coco_results, ids_from, ids_in_order
from tag2box.data.photo_files import PhotoFile, expand_places, find_photos
from tag2box.errors import PhotoError
from tag2box.extract import open_extractor
from tag2box.files import write_json
from tag2box.product.class_file import load_classes, require_extractor
from tag2box.product.detecting import Detector, at_least, detect_photos, features_beside
from tag2box.product.drawing import draw_detections
from tag2box.product.knowledge import knowledge_of
from tag2box.types import Detections


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
    extractor = open_extractor(model, threads=1)
    require_extractor(known, extractor.fingerprint, str(classes))
    detector, photos = Detector(known, knowledge_of(extractor)), find_photos(expand_places(images))
    names = [photo.image_id for photo in photos]
    ids = ids_in_order(names, known.labels) if truth is None else ids_from(truth, names, known.labels)
    _make_folders(output and output.parent, draw)
    results: list[dict[str, Any]] = []
    unreadable: list[PhotoError] = []
    everything = detect_photos(detector, extractor, photos, output and features_beside(output))
    with step_progress("Detecting", len(photos), console) as advance, closing(everything):
        for done, (photo, found) in enumerate(everything, 1):
            advance(done, {})
            if isinstance(found, PhotoError):
                unreadable.append(found)
                continue
            results += coco_results(photo.image_id, found, ids)
            _show(photo, at_least(found, min_score), draw, as_json, console)
    if output is not None:
        _write_results(results, output, console)
    _report_unreadable(unreadable, len(photos), skip_bad, console)


def _make_folders(*folders: Path | None) -> None:
    """Make the folders for results: what cannot be written had better be known before the work."""
    for folder in folders:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)


def _show(photo: PhotoFile, found: Detections, draw: Path | None, as_json: bool, console: Console) -> None:
    if draw is not None:
        draw_detections(photo.path, found, draw / f"{photo.image_id}.jpg")
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
    for error in unreadable:
        console.print(f"Left out: {error.wrong}", soft_wrap=True)
    if unreadable and not skip_bad:
        raise PhotoError(
            f"{len(unreadable)} of {photos} photos could not be read; all others were looked at.",
            "pictures that are whole",
            "replace or remove them, or add --skip-bad.",
        )
