"""``tag2box bench calibrate`` and ``tag2box bench trust``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tag2box.cli.arguments import DataFolder, FeatureFolder, ModelFolder, SettingsFile
from tag2box.cli.terminal import step_progress

if TYPE_CHECKING:
    from tag2box.experiments.bench.trust import TrustTrial
    from tag2box.experiments.bench.workbench import Workbench
    from tag2box.methods.calibration import Calibration

FRONT = 0.2

Tasks = Annotated[int, typer.Option(min=1, help="Tasks of each size: 3, 5, 10 and 20 photos.")]
Seed = Annotated[int, typer.Option(min=0)]


def calibrate(
    data: DataFolder,
    store: FeatureFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.", show_default=False)],
    settings: SettingsFile = None,
    model: ModelFolder = None,
    tasks: Tasks = 250,
    seed: Seed = 0,
) -> None:
    """Learn on 20 held-out base classes which boxes and tags to doubt, with a model that never learned them."""
    from tag2box.experiments.bench.trust import fit_calibration
    from tag2box.experiments.bench.tuning import require_tunable
    from tag2box.experiments.bench.workbench import HELD_OUT, Workbench
    from tag2box.methods.calibration import save_calibration
    from tag2box.product.knowledge import DETECTOR

    console = Console(highlight=False)
    bench = Workbench(data, store, model)
    classes = require_tunable(bench, [DETECTOR])
    trials = _trials(bench, HELD_OUT, settings, tasks, seed, console)
    fitted = fit_calibration(trials)
    facts = {"model": bench.card.fingerprint, "classes": classes, "tasks": len(trials), "seed": seed}
    save_calibration(output, fitted, facts)
    _print_figures(trials, fitted, console)
    console.print(f"Wrote {output}.", markup=False, soft_wrap=True)


def trust(
    data: DataFolder,
    store: FeatureFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="Chart to write, .svg or .png.", show_default=False)],
    dataset: Annotated[str, typer.Option(help="Images to judge on: voc07, coco60 novel, …")] = "voc07",
    settings: SettingsFile = None,
    model: ModelFolder = None,
    tasks: Tasks = 250,
    seed: Seed = 0,
) -> None:
    """Judge the model's calibration: whether its doubt falls on the boxes and the tags that are wrong."""
    from tag2box.experiments.bench.charts import reliability_chart
    from tag2box.experiments.bench.workbench import Workbench
    from tag2box.extract import model_folder
    from tag2box.methods.calibration import CALIBRATION_NAME, load_calibration
    from tag2box.viz import save_figure

    console = Console(highlight=False)
    fitted = load_calibration(model_folder(model) / CALIBRATION_NAME)
    trials = _trials(Workbench(data, store, model), dataset, settings, tasks, seed, console)
    _print_figures(trials, fitted, console)
    save_figure(reliability_chart(trials, fitted, dataset), output)
    console.print(f"Wrote {output}.", markup=False, soft_wrap=True)


def _trials(
    bench: Workbench, dataset: str, settings: Path | None, tasks: int, seed: int, console: Console
) -> list[TrustTrial]:
    from tag2box.cli.bench import extract_missing
    from tag2box.experiments.bench.sources import load_source
    from tag2box.experiments.bench.trust import collect_trust, draw_doubtful_tasks
    from tag2box.methods.lineup import load_choice
    from tag2box.product.knowledge import DETECTOR

    chosen = load_choice(settings or bench.settings, [DETECTOR])[DETECTOR]
    extract_missing(bench, dataset, console)
    images = load_source(bench.data, dataset)
    episodes = draw_doubtful_tasks(images, tasks, seed)
    with step_progress(f"Tasks of {dataset}", len(episodes), console) as advance:
        return collect_trust(bench.pool(images, dataset), episodes, bench.ingredients(), chosen, advance)


def _print_figures(trials: list[TrustTrial], fitted: Calibration, console: Console) -> None:
    from tag2box.experiments.bench.trust import found_at_threshold, judged, share_in_front
    from tag2box.product.report import SUSPECT

    doubts, wrong = judged(trials, fitted.wrong, "wrong")
    absences, absent = judged(trials, fitted.absent, "absent")
    found = found_at_threshold(trials, fitted)
    named = absences >= SUSPECT
    lines = [
        f"{len(doubts):,} boxes in {len(trials):,} tasks: {wrong.mean():.1%} wrong, mean doubt {doubts.mean():.1%}.",
        f"The {FRONT:.0%} most doubtful boxes hold {share_in_front(doubts, wrong, FRONT):.1%} of the wrong ones.",
        f"{absent.mean():.1%} of the tags are wrong; the first {FRONT:.0%} suspects hold "
        f"{share_in_front(absences, absent, FRONT):.1%} of them; {named.mean():.1%} are named, "
        f"{absent[named].mean() if named.any() else 0.0:.1%} of these rightly.",
        f"New photos at the default threshold: {found.right:,} found, {found.wrong:,} wrong, {found.missed:,} missed, "
        f"F1 {found.f1:.3f} (half of the photos do not show the class).",
    ]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
