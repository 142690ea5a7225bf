"""``tag2box detect``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from tag2box.cli.arguments import ModelFolder, SkipBad
from tag2box.cli.terminal import plain_console, step_progress

if TYPE_CHECKING:
    from tag2box.errors import PhotoError
    from tag2box.product.class_file import ClassSet
    from tag2box.types import Detections


def detect(
    classes: Annotated[
        Path, typer.Argument(metavar="FILE.classes", help="Written by tag2box fit.", show_default=False)
    ],
    images: Annotated[list[str], typer.Argument(help="Pictures, folders or patterns like *.jpg.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", dir_okay=False, help="COCO results to write (.json).")
    ] = None,
    draw: Annotated[
        Path | None, typer.Option("--draw", file_okay=False, help="Folder for pictures with boxes.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON for each photo.")] = False,
    min_score: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="0.5 is each class's own threshold; lower finds more.")
    ] = 0.5,
    skip_bad: SkipBad = False,
    model: ModelFolder = None,
) -> None:
    """Detect known things in new photos."""
    from tag2box.errors import PhotoError
    from tag2box.extract import Extractor, each_result, find_photos
    from tag2box.product.class_file import load_classes, require_extractor
    from tag2box.product.detecting import detect_classes, expand_places
    from tag2box.product.drawing import draw_detections
    from tag2box.product.knowledge import knowledge_of

    console = plain_console(stderr=as_json)
    known = load_classes(classes)
    extractor = Extractor(model, threads=1)
    require_extractor(known, extractor.fingerprint, str(classes))
    knowledge, photos = knowledge_of(extractor), find_photos(expand_places(images))
    _make_folders(output and output.parent, draw)
    results: list[dict[str, Any]] = []
    unreadable: list[PhotoError] = []
    with step_progress("Detecting", len(photos), console) as advance:
        for done, (photo, result) in enumerate(each_result(extractor, photos), 1):
            advance(done, {})
            if isinstance(result, PhotoError):
                unreadable.append(result)
                continue
            found = detect_classes(result[0], known, knowledge, min_score)
            results += coco_results(found, known, photo.image_id, done)
            if draw is not None:
                draw_detections(photo.path, found, draw / f"{photo.image_id}.jpg")
            _print_photo(photo.image_id, found, as_json, console)
    _write_results(results, output, console)
    _report_unreadable(unreadable, len(photos), skip_bad, console)


def _make_folders(*folders: Path | None) -> None:
    """Make the folders for results: what cannot be written had better be known before the work."""
    for folder in folders:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)


def coco_results(found: Detections, known: ClassSet, name: str, number: int) -> list[dict[str, Any]]:
    """Detections of a photo as COCO writes results, with the names of photo and class."""
    return [
        {
            "image_id": number,
            "category_id": known.labels.index(one.label) + 1,
            "bbox": [round(value, 2) for value in (x0, y0, x1 - x0, y1 - y0)],
            "score": round(one.score, 6),
            "category_name": one.label,
            "file_name": name,
        }
        for one in found
        for x0, y0, x1, y1 in [one.box]
    ]


def _print_photo(name: str, found: Detections, as_json: bool, console: Console) -> None:
    if as_json:
        boxes = [
            {"label": one.label, "score": round(one.score, 4), "box": [round(v, 1) for v in one.box]} for one in found
        ]
        typer.echo(json.dumps({"file_name": name, "detections": boxes}, ensure_ascii=False))
        return
    said = ", ".join(f"{one.label} {one.score:.2f}" for one in found) or "nothing known here"
    console.print(f"{name}: {said}", soft_wrap=True)


def _write_results(results: list[dict[str, Any]], output: Path | None, console: Console) -> None:
    from tag2box.files import write_json

    if output is not None:
        write_json(output, results)
        console.print(f"{len(results):,} detections in {output}.", soft_wrap=True)


def _report_unreadable(unreadable: list[PhotoError], photos: int, skip_bad: bool, console: Console) -> None:
    from tag2box.errors import PhotoError

    for error in unreadable:
        console.print(f"Left out: {error.wrong}", soft_wrap=True)
    if unreadable and not skip_bad:
        raise PhotoError(
            f"{len(unreadable)} of {photos} photos could not be read; all others were looked at.",
            "pictures that are whole",
            "replace or remove them, or add --skip-bad.",
        )
