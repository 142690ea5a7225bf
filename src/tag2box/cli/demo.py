"""``tag2box demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the report and the results.")] = Path(
        "demo-run"
    ),
) -> None:
    """Run the whole story on photos that ship with the package, offline: localize, fit, detect, evaluate."""
    from tag2box.cli.progress import step_progress
    from tag2box.product.demo import demo_size, run_demo

    console = Console(highlight=False)
    output.mkdir(parents=True, exist_ok=True)
    with step_progress("Extracting", demo_size(), console) as advance:
        results = run_demo(output, console.print, advance)
    table = Table(title="What the tags alone taught")
    table.add_column("measure")
    table.add_column("result", justify="right")
    table.add_row("boxes right, tagged photos", f"{results.localized_right} of {results.localized}")
    table.add_row(f"AP50, PASCAL 11 points, {results.query_photos} new photos", f"{results.ap50_voc_11_points:.1%}")
    table.add_row("AP50, PASCAL area", f"{results.ap50_voc_area:.1%}")
    table.add_row("AP50, COCO 101 points", f"{results.ap50_coco_101_points:.1%}")
    console.print(table)
    console.print(
        f"Open {output / 'report.html'} to see the boxes, and em.png beside it for EM at work.", soft_wrap=True
    )
