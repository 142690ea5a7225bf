"""``tag2box bench``: the paper's experiments, and how far to trust what is found."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from tag2box.cli.arguments import DataFolder, FeatureFolder, ModelFolder, ModelFolders, SettingsFile
from tag2box.cli.terminal import plain_console, step_progress
from tag2box.data import held_out_classes, load_split, read_dataset
from tag2box.errors import SpecificationError
from tag2box.experiments.bench import reports
from tag2box.experiments.bench.calibrating import calibration_facts, calibration_trials, fit_calibration
from tag2box.experiments.bench.hypotheses import listed
from tag2box.experiments.bench.results import Row, RowResult
from tag2box.experiments.bench.running import run_rows
from tag2box.experiments.bench.sources import BASE, SPLIT, annotation_file
from tag2box.experiments.bench.specification import Specification, read_specification
from tag2box.experiments.bench.trust import (
    FRONT,
    TrustTrial,
    trust_figures,
    trust_trials,
)
from tag2box.experiments.bench.tuning import Tasks, choose_all, datasets_for, require_tunable, tuned_methods
from tag2box.experiments.bench.workbench import Workbench, bench_for, bench_if_any
from tag2box.experiments.composed import BOXES_NAME, compose, plan_same_scene, plan_three_things
from tag2box.extract import model_folder
from tag2box.files import write_text
from tag2box.methods.calibration import CALIBRATION_NAME, Calibration, load_calibration, save_calibration
from tag2box.model import DETECTOR
from tag2box.viz import require_chart, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

bench_app = typer.Typer(help="Run the paper's experiments on cached features.", no_args_is_help=True)

ANY_WIDTH = 1000

TasksOfASize = Annotated[int, typer.Option(min=1, help="Tasks of each size: 3, 5, 10 and 20 photos.")]
Seed = Annotated[int, typer.Option(min=0)]

Experiments = Annotated[
    list[Path], typer.Argument(help="Files that say what to run, such as experiments/*.toml.", show_default=False)
]


@bench_app.command("list")
def list_experiments(experiments: Experiments) -> None:
    """Say what each experiment is about."""
    console = plain_console()
    for path in experiments:
        asked = read_specification(path)
        rows = len(asked.methods) * len(asked.ways) * len(asked.shots)
        console.print(f"{path}: {asked.title}", soft_wrap=True)
        console.print(f"  {asked.question}", soft_wrap=True)
        console.print(f"  {asked.dataset}, {rows} rows of {asked.tasks:,} tasks", soft_wrap=True)


@bench_app.command("run")
def run(
    experiments: Experiments,
    data: DataFolder,
    store: FeatureFolder,
    settings: SettingsFile = None,
    model: ModelFolders = [],  # noqa: B006
) -> None:
    """Run every row that has no result yet; what is done stays, whatever happens."""
    console = plain_console()
    for asked in [read_specification(path) for path in experiments]:
        console.print(asked.title)
        bench = bench_for(asked, data, store, model)
        bench.prepare(asked.dataset, partial(step_progress, console=console))
        bench.school_rivals(asked.methods, partial(step_progress, console=console))
        rows = bench.rows(asked, settings)
        run_rows(bench, rows, partial(step_progress, console=console))
        _print_table(asked, bench.kept_results(rows), console)


@bench_app.command("report")
def report(
    experiments: Experiments,
    data: DataFolder,
    store: FeatureFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to.", show_default=False)],
    settings: SettingsFile = None,
    model: ModelFolders = [],  # noqa: B006
) -> None:
    """Write tables with what results they have as Markdown, CSV and LaTeX, and charts as PNG and SVG."""
    from tag2box.experiments.bench import pictures

    parts = output / "results"
    parts.mkdir(parents=True, exist_ok=True)
    sections = []
    for path in experiments:
        asked = read_specification(path)
        bench = bench_if_any(asked, data, store, model)
        results = bench.kept_results(bench.rows(asked, settings)) if bench is not None else {}
        made = reports.make_report(asked, results)
        figures = {
            "steps": pictures.steps_chart(results),
            "verdicts": pictures.misses_chart(results),
            "kappa": pictures.kappa_chart() if "kappa" in path.stem else None,
        }
        drawn = [
            f"results/{_save(figure, parts / f'{path.stem}-{kind}')}" for kind, figure in figures.items() if figure
        ]
        write_text(parts / f"{path.stem}.csv", reports.csv(made))
        write_text(parts / f"{path.stem}.tex", reports.latex(made))
        command = f"tag2box bench run {path} --data DATA --store STORE"
        sections.append((made, reports.markdown(made, command, drawn)))
    write_text(output / "results.md", reports.page(sections))
    plain_console().print(f"Wrote {output / 'results.md'}.", soft_wrap=True)


@bench_app.command("show")
def show(
    experiment: Annotated[Path, typer.Argument(help="File that says what to run.", show_default=False)],
    data: DataFolder,
    store: FeatureFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to.", show_default=False)],
    method: Annotated[str, typer.Option(help="A method of the experiment that runs EM.")] = "vmf-mil",
    count: Annotated[int, typer.Option(min=1, help="Tasks to show.")] = 8,
    settings: SettingsFile = None,
    model: ModelFolder = None,
) -> None:
    """Draw the first tasks: chosen regions in support and query images, and the query's box at every EM step."""
    from tag2box.experiments.bench.pictures import draw_tasks

    bench = Workbench(data, store, model)
    asked = read_specification(experiment)
    rows = [row for row in bench.rows(asked, settings) if row.method == method]
    if not rows:
        raise SpecificationError(
            f"{experiment} has no method {method}.", f"one of {', '.join(asked.methods)}", "give another --method."
        )
    output.mkdir(parents=True, exist_ok=True)
    for path in draw_tasks(bench, rows[0], count, output):
        plain_console().print(f"Wrote {path}.", soft_wrap=True)


@bench_app.command("tune")
def tune(
    data: DataFolder,
    store: FeatureFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.", show_default=False)],
    model: ModelFolder = None,
    method: Annotated[list[str], typer.Option(help="Repeat for several; without, all that have settings.")] = [],  # noqa: B006
    shots: Annotated[int, typer.Option(min=2)] = 5,
    tasks: Annotated[int, typer.Option(min=1)] = 2000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Choose settings on tasks of held-out kinds of base classes, with a model that never learned them."""
    console = plain_console()
    bench = Workbench(data, store, model)
    names = method or list(tuned_methods())
    require_tunable(bench, names)
    for dataset in datasets_for(bench, names):
        bench.prepare(dataset, partial(step_progress, console=console))
    bench.school_rivals(names, partial(step_progress, console=console))
    progress, say = partial(step_progress, console=console), partial(console.print, soft_wrap=True)
    choose_all(bench, names, Tasks(shots, tasks, seed), output, progress, say)
    console.print(f"Wrote {output}.", soft_wrap=True)


@bench_app.command("compose")
def compose_photos(
    data: DataFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for photos and boxes.", show_default=False)],
    three_things: Annotated[
        bool, typer.Option("--three-things", help="The same three kinds of things in all photos of a set, elsewhere.")
    ] = False,
) -> None:
    """Compose photos as people take them, of held-out base classes: several of one scene, or with several things."""
    console, base = plain_console(), read_dataset(annotation_file(data, BASE))
    classes = held_out_classes(load_split(SPLIT).base)
    plans = plan_three_things(base, classes) if three_things else plan_same_scene(base, classes)
    with step_progress("Composing", len(plans), console) as advance:
        compose(plans, output, advance)
    console.print(f"Photos and {BOXES_NAME} in {output}. Next: tag2box extract, tag2box measure product.")


@bench_app.command("calibrate")
def calibrate(
    data: DataFolder,
    store: FeatureFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.", show_default=False)],
    settings: SettingsFile = None,
    model: ModelFolder = None,
    tasks: TasksOfASize = 250,
    seed: Seed = 0,
) -> None:
    """Learn on held-out kinds of base classes which boxes and tags to doubt, with a model that never learned them."""
    console = plain_console()
    bench = Workbench(data, store, model)
    classes = require_tunable(bench, [DETECTOR])
    for name in datasets_for(bench, [DETECTOR]):
        bench.prepare(name, partial(step_progress, console=console))
    chosen = bench.settings(settings)
    trials = calibration_trials(bench, chosen, tasks, seed, partial(step_progress, console=console))
    fitted = fit_calibration(trials, chosen.of(DETECTOR)["sharpness"])
    save_calibration(output, fitted, calibration_facts(bench, classes, chosen, tasks, seed))
    _print_figures(trials, fitted, console)
    console.print(f"Wrote {output}.", soft_wrap=True)


@bench_app.command("trust")
def trust(
    data: DataFolder,
    store: FeatureFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="Chart to write, .svg or .png.", show_default=False)],
    dataset: Annotated[str, typer.Option(help="Images to judge on: voc07, coco60 novel, …")] = "voc07",
    settings: SettingsFile = None,
    model: ModelFolder = None,
    tasks: TasksOfASize = 250,
    seed: Seed = 0,
) -> None:
    """Judge the model's calibration: whether its doubt falls on the boxes and the tags that are wrong."""
    from tag2box.experiments.bench.pictures import reliability_chart

    require_chart(output)
    console = plain_console()
    fitted = load_calibration(model_folder(model) / CALIBRATION_NAME)
    trials = _trials(Workbench(data, store, model), dataset, settings, tasks, seed, console)
    _print_figures(trials, fitted, console)
    save_figure(reliability_chart(trials, fitted, dataset), output)
    console.print(f"Wrote {output}.", soft_wrap=True)


def _save(figure: Figure, path: Path) -> str:
    """Write a figure as PNG and SVG; the name of the latter."""
    for ending in (".png", ".svg"):
        save_figure(figure, path.with_name(path.name + ending))
    return f"{path.name}.svg"


def _print_table(asked: Specification, results: dict[Row, RowResult], console: Console) -> None:
    """A table, or a list where the screen is too narrow for one: half an interval is no interval."""
    made = reports.make_report(asked, results)
    headings, lines = made.table.headings, made.table.lines
    table = Table(*(heading.replace(", ", ",\n") for heading in headings))
    for line in lines:
        table.add_row(*line)
    if Measurement.get(console, console.options.update(width=ANY_WIDTH), table).maximum <= console.width:
        console.print(table)
    else:
        for method, *cells in lines:
            shown = (
                f"{heading} {cell}"
                for heading, cell in zip(headings[1:], cells, strict=True)
                if cell != reports.NOTHING
            )
            console.print(f"{method}: {'; '.join(shown)}", soft_wrap=True)
    for text in (*reports.reasons(asked), *filter(None, listed(made.comparisons))):
        console.print(text, soft_wrap=True)


def _trials(
    bench: Workbench, dataset: str, settings: Path | None, tasks: int, seed: int, console: Console
) -> list[TrustTrial]:
    chosen = bench.settings(settings)
    bench.prepare(dataset, partial(step_progress, console=console))
    return trust_trials(bench, [dataset], chosen, tasks, seed, partial(step_progress, console=console))


def _print_figures(trials: list[TrustTrial], fitted: Calibration, console: Console) -> None:
    seen = trust_figures(trials, fitted)
    lines = [
        f"{seen.boxes:,} boxes in {seen.tasks:,} tasks: {seen.wrong:.1%} wrong, mean doubt {seen.doubt:.1%}.",
        f"The {FRONT:.0%} most doubtful boxes hold {seen.wrong_in_front:.1%} of the wrong ones.",
        f"{seen.absent:.1%} of the tags are wrong; the first {FRONT:.0%} suspects hold {seen.absent_in_front:.1%} of "
        f"them; {seen.named:.1%} are named, {seen.named_rightly:.1%} of these rightly.",
        f"New photos at the default threshold: {seen.found.right:,} found, {seen.found.wrong:,} wrong, "
        f"{seen.found.missed:,} missed; an alarm in {seen.found.alarms:.1%} of the photos without the class.",
    ]
    for line in lines:
        console.print(line, soft_wrap=True)
