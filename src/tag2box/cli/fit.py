"""``tag2box fit``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tag2box.cli.arguments import ModelFolder, SkipBad, TaggedPhotos
from tag2box.cli.localize import localize_in
from tag2box.cli.terminal import plain_console

if TYPE_CHECKING:
    from tag2box.errors import PhotoError
    from tag2box.product.localizing import Localized


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
    from tag2box.data import read_tags
    from tag2box.data.tags import shared_tags
    from tag2box.product.class_file import load_classes, merge_classes, require_extractor, require_new, save_classes

    console = plain_console()
    tags, extractor = read_tags(photos), open_extractor(model, threads=1)
    before = [load_classes(add_to)] if add_to is not None else []
    for old in before:
        require_extractor(old, extractor.fingerprint, str(add_to))
        require_new(shared_tags(tags.photos)[0], old, str(add_to))
    output.parent.mkdir(parents=True, exist_ok=True)  # if that fails, then now
    with tempfile.TemporaryDirectory(prefix="tag2box-") as scratch:
        found, _, _, unreadable = localize_in(run or Path(scratch) / "run", tags, extractor, skip_bad, console)
    known = merge_classes([*before, found.known()])
    save_classes(output, known)
    _print_summary(found, unreadable, console)
    console.print(f"{len(known.classes)} classes in {output} ({output.stat().st_size:,} bytes).", soft_wrap=True)


def _print_summary(found: Localized, unreadable: tuple[PhotoError, ...], console: Console) -> None:
    for one in found.learned:
        right = float((1.0 - one.doubts).sum())
        console.print(f"  {one.label}: {len(one.bags)} photos, about {right:.0f} of them understood.", soft_wrap=True)
    for label in found.left_out:
        console.print(f"  {label}: left out, it has one photo only; nothing can be common to one.", soft_wrap=True)
    for error in unreadable:
        console.print(f"  Left out: {error.wrong}", soft_wrap=True)
