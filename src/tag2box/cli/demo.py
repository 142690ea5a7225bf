"""``tag2box demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the picture and the results.")] = Path(
        "demo-run"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Another seed is another world.")] = 0,
) -> None:
    """Run the whole story, offline: localize, fit, detect, evaluate."""
    from tag2box.product.demo import run_demo

    console = Console(highlight=False)
    results = run_demo(output / f"seed-{seed}", console.print, seed=seed)
    table = Table(title="A planted world, where every answer is known")
    table.add_column("measure")
    table.add_column("result", justify="right")
    table.add_row("boxes right, tagged images", f"{results.localized_right} of {results.localized}")
    table.add_row(f"AP50, PASCAL 11 points, {results.query_images} new images", f"{results.ap50_voc_11_points:.1%}")
    table.add_row("AP50, PASCAL area", f"{results.ap50_voc_area:.1%}")
    table.add_row("AP50, COCO 101 points", f"{results.ap50_coco_101_points:.1%}")
    console.print(table)
    console.print(f"Look at {output / f'seed-{seed}' / 'em.png'}: EM converging, step by step.", soft_wrap=True)
