"""``tag2box fit``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tag2box.cli.arguments import ModelFolder, SkipBad, TaggedPhotos
from tag2box.cli.localize import localize_in


def fit(
    photos: TaggedPhotos,
    output: Annotated[Path, typer.Option("-o", "--output", help="Class file to write.", show_default=False)],
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
    from tag2box.product.class_file import load_classes, merge_classes, save_classes

    console = Console(highlight=False)
    before = [load_classes(add_to)] if add_to is not None else []
    with tempfile.TemporaryDirectory(prefix="tag2box-") as scratch:
        found, _, _, _ = localize_in(photos, run or Path(scratch) / "run", model, skip_bad, console)
        known = merge_classes([*before, found.known()])
    output.parent.mkdir(parents=True, exist_ok=True)
    save_classes(output, known)
    for one in found.learned:
        right = float((1.0 - one.doubts).sum())
        console.print(
            f"  {one.label}: {len(one.bags)} photos, about {right:.0f} of them understood.",
            markup=False,
            soft_wrap=True,
        )
    for label in found.left_out:
        console.print(f"  {label}: left out, it has one photo only.", markup=False, soft_wrap=True)
    console.print(f"{len(known.classes)} classes in {output} ({output.stat().st_size:,} bytes).", markup=False)
