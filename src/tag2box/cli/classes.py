"""``tag2box classes``: class files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tag2box.cli.terminal import plain_console
from tag2box.product.class_file import KnownClass, load_classes, merge_classes, require_extractor, save_classes

classes_app = typer.Typer(help="List, merge and remove the classes of class files.", no_args_is_help=True)

ClassFile = Annotated[Path, typer.Argument(help="A file written by tag2box fit.", show_default=False)]
Output = Annotated[
    Path, typer.Option("-o", "--output", dir_okay=False, help="Class file to write.", show_default=False)
]


@classes_app.command("list")
def list_classes(file: ClassFile) -> None:
    """Say what a class file knows."""
    known = load_classes(file)
    table = Table("class", "photos", "expected right", "learned", title=f"{file} · {known.fingerprint}")
    for each in known.classes:
        photos, learned = (str(each.provenance.get(name, "?")) for name in ("photos", "learned"))
        table.add_row(each.label, photos, _expected_right(each), learned)
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
