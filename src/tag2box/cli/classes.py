"""``tag2box classes``: class files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

classes_app = typer.Typer(help="List, merge and remove the classes of class files.", no_args_is_help=True)

ClassFile = Annotated[Path, typer.Argument(help="A file written by tag2box fit.", show_default=False)]
Output = Annotated[Path, typer.Option("-o", "--output", help="Class file to write.", show_default=False)]


@classes_app.command("list")
def list_classes(file: ClassFile) -> None:
    """Say what a class file knows."""
    from tag2box.product.class_file import load_classes

    known = load_classes(file)
    table = Table("class", "photos", "expected right", "learned", title=f"{file} · {known.fingerprint}")
    for each in known.classes:
        photos, doubt = each.provenance.get("photos", "?"), each.provenance.get("mean_doubt")
        right = f"{1.0 - float(doubt):.0%}" if doubt is not None else "?"
        table.add_row(each.label, str(photos), right, str(each.provenance.get("learned", "?")))
    Console(highlight=False).print(table, markup=False)


@classes_app.command("merge")
def merge(
    files: Annotated[list[Path], typer.Argument(help="Class files of one extractor.", show_default=False)],
    output: Output,
) -> None:
    """Put the classes of several files into one."""
    from tag2box.product.class_file import load_classes, merge_classes, save_classes

    known = merge_classes([load_classes(file) for file in files])
    save_classes(output, known)
    Console(highlight=False).print(f"{', '.join(known.labels)} in {output}.", markup=False, soft_wrap=True)


@classes_app.command("remove")
def remove(
    file: ClassFile,
    names: Annotated[list[str], typer.Argument(help="Classes to remove.", show_default=False)],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Class file to write; else the same.")] = None,
) -> None:
    """Forget classes; the others stay as they are."""
    from tag2box.product.class_file import load_classes, save_classes

    left = load_classes(file).without(names)
    save_classes(output or file, left)
    said = ", ".join(left.labels) or "nothing"
    Console(highlight=False).print(f"{said} left in {output or file}.", markup=False, soft_wrap=True)
