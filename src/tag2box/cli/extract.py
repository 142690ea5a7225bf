"""``tag2box extract``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tag2box.cli.arguments import A_DATASET, ModelFolder
from tag2box.cli.terminal import plain_console, step_progress
from tag2box.data import read_dataset
from tag2box.errors import PhotoError
from tag2box.extract import REGIONS, PhotoFile, extract_photos, find_photos, open_extractor


def extract(
    images: Annotated[
        list[Path],
        typer.Argument(help=f"Pictures, folders of pictures, or {A_DATASET}.", show_default=False),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the store.", show_default=False)],
    model: ModelFolder = None,
    regions: Annotated[int, typer.Option(min=1, help="Regions of a photo, beside the whole.")] = REGIONS,
    skip_bad: Annotated[bool, typer.Option(help="End well even if some pictures cannot be read.")] = False,
) -> None:
    """Find and describe the regions of photos, once, for everything that follows."""
    annotated = [path for path in images if path.suffix.lower() in {".json", ".txt"}]
    photos = [PhotoFile(image.image_id, image.path) for path in annotated for image in read_dataset(path).images]
    places = [path for path in images if path not in annotated]
    photos += find_photos(places) if places else []
    console = plain_console()
    extractor = open_extractor(model, regions=regions, threads=1)
    with step_progress("Extracting", len(photos), console) as advance:
        outcome = extract_photos(extractor, photos, output, advance)
    again = f" ({outcome.known:,} were there already)" if outcome.known else ""
    console.print(f"{outcome.written:,} photos into {output}{again}.", soft_wrap=True)
    for error in outcome.unreadable:
        console.print(f"Not read: {error.wrong}", soft_wrap=True)
    if outcome.unreadable and not skip_bad:
        raise PhotoError(
            f"{len(outcome.unreadable)} of {len(photos)} photos could not be read; the others are in the store.",
            "pictures that are whole",
            "replace or remove them and run the same command again, or add --skip-bad.",
        )
