"""``tag2box bench``: the paper's experiments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tag2box.cli.arguments import DataFolder, FeatureFolder, ModelFolder, SettingsFile
from tag2box.cli.trust import calibrate, trust

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tag2box.experiments.bench.rows import Row, RowResult
    from tag2box.experiments.bench.specification import Specification
    from tag2box.experiments.bench.workbench import Workbench

bench_app = typer.Typer(help="Run the paper's experiments on cached features.", no_args_is_help=True)
bench_app.command("calibrate")(calibrate)
bench_app.command("trust")(trust)

ANY_WIDTH = 1000

Experiments = Annotated[
    list[Path], typer.Argument(help="Files that say what to run, such as experiments/*.toml.", show_default=False)
]


@bench_app.command("list")
def list_experiments(experiments: Experiments) -> None:
    """Say what each experiment is about."""
    from tag2box.experiments.bench.specification import read_specification

    console = Console(highlight=False)
    for path in experiments:
        asked = read_specification(path)
        rows = len(asked.methods) * len(asked.ways) * len(asked.shots)
        console.print(f"{path}: {asked.title}", markup=False, soft_wrap=True)
        console.print(f"  {asked.claim}", markup=False, soft_wrap=True)
        console.print(f"  {asked.dataset}, {rows} rows of {asked.tasks:,} tasks", markup=False, soft_wrap=True)


@bench_app.command("run")
def run(
    experiments: Experiments,
    data: DataFolder,
    store: FeatureFolder,
    settings: SettingsFile = None,
    model: ModelFolder = None,
) -> None:
    """Run every row that has no result yet; what is done stays, whatever happens."""
    from tag2box.experiments.bench.specification import read_specification
    from tag2box.experiments.bench.workbench import Workbench

    console = Console(highlight=False)
    bench = Workbench(data, store, model)
    for asked in [read_specification(path) for path in experiments]:
        console.print(asked.title, markup=False)
        extract_missing(bench, asked.dataset, console)
        _run_rows(bench, asked, settings, console)
        _print_table(asked, _results(bench, asked, settings), console)


@bench_app.command("report")
def report(
    experiments: Experiments,
    data: DataFolder,
    store: FeatureFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to.", show_default=False)],
    settings: SettingsFile = None,
    model: ModelFolder = None,
) -> None:
    """Write the tables that have results as Markdown, CSV and LaTeX, and charts as PNG and SVG."""
    from tag2box.experiments.bench import charts, reports
    from tag2box.experiments.bench.specification import read_specification
    from tag2box.experiments.bench.workbench import Workbench
    from tag2box.files import write_text

    bench = Workbench(data, store, model)
    parts = output / "results"
    parts.mkdir(parents=True, exist_ok=True)
    sections = []
    for path in experiments:
        results = _results(bench, asked := read_specification(path), settings)
        made = reports.make_report(asked, results)
        figures = {
            "steps": charts.steps_chart(results),
            "verdicts": charts.misses_chart(results),
            "kappa": charts.kappa_chart() if "kappa" in path.stem else None,
        }
        pictures = [
            f"results/{_save(figure, parts / f'{path.stem}-{kind}')}" for kind, figure in figures.items() if figure
        ]
        write_text(parts / f"{path.stem}.csv", reports.csv(made))
        write_text(parts / f"{path.stem}.tex", reports.latex(made))
        command = f"tag2box bench run {path} --data DATA --store STORE"
        sections.append((made, reports.markdown(made, command, pictures)))
    write_text(output / "results.md", reports.page(sections))
    Console(highlight=False).print(f"Wrote {output / 'results.md'}.", markup=False, soft_wrap=True)


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
    from tag2box.errors import SpecificationError
    from tag2box.experiments.bench.sheets import draw_tasks
    from tag2box.experiments.bench.specification import read_specification
    from tag2box.experiments.bench.workbench import Workbench

    bench = Workbench(data, store, model)
    asked = read_specification(experiment)
    rows = [row for row in _rows(bench, asked, settings) if row.method == method]
    if not rows:
        raise SpecificationError(
            f"{experiment} has no method {method}.", f"one of {', '.join(asked.methods)}", "give another --method."
        )
    output.mkdir(parents=True, exist_ok=True)
    for path in draw_tasks(bench, rows[0], count, output):
        Console(highlight=False).print(f"Wrote {path}.", markup=False, soft_wrap=True)


@bench_app.command("tune")
def tune(
    data: DataFolder,
    store: FeatureFolder,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.", show_default=False)],
    model: ModelFolder = None,
    method: Annotated[list[str], typer.Option(help="Repeat for several; without, all that have settings.")] = [],  # noqa: B006
    shots: Annotated[int, typer.Option(min=2)] = 5,
    tasks: Annotated[int, typer.Option(min=1)] = 250,
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Choose settings on tasks of 20 held-out base classes, with a model that never learned them."""
    from tag2box.cli.terminal import step_progress
    from tag2box.experiments.bench.tuning import choose_settings, grid_of, require_tunable, tuned_methods
    from tag2box.experiments.bench.workbench import HELD_OUT, Workbench
    from tag2box.methods.lineup import LINEUP, add_choice, choice_beside

    console = Console(highlight=False)
    bench = Workbench(data, store, model)
    names = method or list(tuned_methods())
    classes = require_tunable(bench, names)
    extract_missing(bench, HELD_OUT, console)
    facts = {"model": bench.card.fingerprint, "classes": classes, "shots": shots, "tasks": tasks, "seed": seed}
    for name in names:
        with step_progress(f"Choosing for {name}", len(grid_of(name)), console) as advance:
            beside = choice_beside(output, name)
            chosen, score = choose_settings(bench, name, beside, shots, tasks, seed, advance)
        shown = ", ".join(f"{key} {value:g}" for key, value in chosen.items())
        measure = LINEUP[name].chosen_by
        console.print(f"{name}: {shown} ({measure} {100 * score:.1f})", markup=False, soft_wrap=True)
        add_choice(output, name, chosen, facts | {measure: round(score, 4)})
    console.print(f"Wrote {output}.", markup=False, soft_wrap=True)


def _save(figure: Figure, path: Path) -> str:
    """Write a figure as PNG and SVG; the name of the latter."""
    from tag2box.viz import save_figure

    for ending in (".png", ".svg"):
        save_figure(figure, path.with_name(path.name + ending))
    return f"{path.name}.svg"


def extract_missing(bench: Workbench, dataset: str, console: Console) -> None:
    """Put into the store what an experiment on a dataset needs, with progress."""
    from tag2box.cli.terminal import step_progress
    from tag2box.experiments.bench.workbench import BASE

    for name in (BASE, dataset):
        images = bench.missing(name)
        if images:
            with step_progress(f"Extracting {name}", len(images), console) as advance:
                bench.extract(name, images, advance)
    with console.status("Fitting backgrounds …"):
        bench.ingredients()


def _run_rows(bench: Workbench, asked: Specification, settings: Path | None, console: Console) -> None:
    from tag2box.cli.terminal import step_progress
    from tag2box.experiments.bench.running import Crew, draw_episodes, run_row
    from tag2box.experiments.bench.sources import load_source

    waiting = [row for row in _rows(bench, asked, settings) if not row.file(bench.results).exists()]
    if not waiting:
        return
    dataset = load_source(bench.data, asked.dataset)
    cells = {(row.ways, row.shots): row for row in waiting}
    episodes = {cell: draw_episodes(dataset, row) for cell, row in cells.items()}  # the same for every method
    with Crew(bench, asked.dataset) as crew:
        for row in waiting:
            title = f"{row.method}, {row.ways}-way {row.shots}-shot"
            with step_progress(title, row.tasks, console) as advance:
                run_row(crew, row, episodes[row.ways, row.shots], bench.results, advance)


def _rows(bench: Workbench, asked: Specification, settings: Path | None) -> list[Row]:
    from tag2box.experiments.bench.rows import rows_of
    from tag2box.experiments.bench.sources import annotations_hash
    from tag2box.methods.lineup import load_choice

    chosen = load_choice(settings or bench.settings, asked.methods)
    annotations = annotations_hash(bench.data, asked.dataset)
    return rows_of(asked, chosen, bench.card.fingerprint, annotations, bench.knowledge_hash)


def _results(bench: Workbench, asked: Specification, settings: Path | None) -> dict[Row, RowResult]:
    from tag2box.experiments.bench.rows import load_result

    rows = [row for row in _rows(bench, asked, settings) if row.file(bench.results).exists()]
    return {row: load_result(row.file(bench.results)) for row in rows}


def _print_table(asked: Specification, results: dict[Row, RowResult], console: Console) -> None:
    """A table, or a list where the screen is too narrow for one: half an interval is no interval."""
    from rich.measure import Measurement
    from rich.table import Table

    from tag2box.experiments.bench.reports import NOTHING, make_report, sentence

    made = make_report(asked, results)
    headings, lines = made.table.headings, made.table.lines
    table = Table(*(heading.replace(", ", ",\n") for heading in headings))
    for line in lines:
        table.add_row(*line)
    if Measurement.get(console, console.options.update(width=ANY_WIDTH), table).maximum <= console.width:
        console.print(table)
    else:
        for method, *cells in lines:
            shown = (f"{heading} {cell}" for heading, cell in zip(headings[1:], cells, strict=True) if cell != NOTHING)
            console.print(f"{method}: {'; '.join(shown)}", markup=False, soft_wrap=True)
    for comparison in made.comparisons:
        console.print(sentence(comparison), markup=False, soft_wrap=True)
