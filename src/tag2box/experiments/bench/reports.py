"""A table as Markdown, CSV and LaTeX: the paper's numbers beside ours, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import NamedTuple, final

from tag2box.evaluation import Interval
from tag2box.experiments.bench.figures_of_merit import Comparison, comparisons
from tag2box.experiments.bench.hypotheses import counted, listed
from tag2box.experiments.bench.results import BY_CLASS, Row, RowResult
from tag2box.experiments.bench.specification import EVERY_IMAGE, NotRun, Specification
from tag2box.methods.lineup import LINEUP

NOTHING = "–"
NOT_RUN = "not run"
NOT_RUN_YET = "not run with this model yet"
BOLD = "**"
HEAD = """# Results

Every table of the paper, run on the photos that we have with the model that ships: the paper's numbers
beside ours in percent, with 95 % intervals. `tag2box bench report` writes this page; the command under
each title runs its table. Data, extractor and scale differ from the paper's (see
[experiments](experiments.md)), so what can be compared is the order of the methods.

All intervals are conditional on the pool of photos and on one trained model: they say how far other tasks
from the same photos would move a number, not what other photos or another training would do.
A dash in a column of ours stands for a row that nobody has run yet with this model.
"""
ABOUT_HYPOTHESES = """
Each table asks a question; below it are hypotheses, the paper's and ours, judged in every cell that they are
about. The verdict is yes or no where the interval of the difference leaves out zero, else not decided.
"""


@final
@dataclass(frozen=True)
class Table:
    """Texts in lines and columns; the first column names the method."""

    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


@final
@dataclass(frozen=True)
class Report:
    """A table, the same for each class where there is one cell only, and what became of the hypotheses."""

    specification: Specification
    table: Table
    by_class: dict[str, Table]
    """Measure → a column for each class"""
    comparisons: tuple[Comparison, ...]
    pace: str
    """How the times of the methods compare, where every image is used; empty elsewhere"""
    minutes: float | None
    """That all rows took, on the machine that ran them; None if there is no row"""


def make_report(specification: Specification, results: Mapping[Row, RowResult]) -> Report:
    """Everything that there is to say about a table."""
    columns = list(_columns(specification))
    found = {(row.method, row.ways, row.shots): result for row, result in results.items()}
    lines = [(LINEUP[method].title, *_cells(specification, found, method, columns)) for method in specification.methods]
    lines += [(row.title, *_cells_not_run(specification, row, columns)) for row in specification.not_run]
    measures = [measure for measure in BY_CLASS if specification.one_cell and _is_known(results, measure)]
    by_class = {measure: _class_table(specification, results, measure) for measure in measures}
    judged = tuple(comparisons(specification, results))
    pace = _pace(results) if specification.draw == EVERY_IMAGE else ""
    minutes = sum(result.seconds for result in results.values()) / 60 if results else None
    headings = (_heading(specification, column) for column in columns)
    return Report(specification, Table(("method", *headings), tuple(lines)), by_class, judged, pace, minutes)


def page(sections: Sequence[tuple[Report, str]]) -> str:
    """All tables, after what can be said about them together; each section is ready Markdown."""
    judged = [comparison for report, _ in sections for comparison in report.comparisons]
    summary = [ABOUT_HYPOTHESES, *counted(judged), ""] if judged else [""]
    return HEAD + "\n".join([*summary, *(section for _, section in sections)])


def markdown(report: Report, command: str, pictures: Sequence[str] = ()) -> str:
    """A section of a page."""
    asked = report.specification
    cost = f"{report.minutes:.0f} min on 2 cores" if report.minutes is not None else NOT_RUN_YET
    cost = f"{asked.tasks:,} tasks, {asked.dataset}, {cost}"
    text = [f"## {asked.title}", "", asked.question, "", f"`{command}` · {cost}", ""]
    text += [*_markdown_table(report.table), *(line for reason in reasons(asked) for line in ("", reason))]
    for measure, table in report.by_class.items():
        text += ["", f"{measure} of each class:", "", *_markdown_table(table)]
    if report.pace:
        text += ["", report.pace]
    text += listed(report.comparisons, BOLD)
    if asked.remark:
        text += ["", asked.remark.strip()]
    for picture in pictures:
        text += ["", f"![{asked.title}]({picture})"]
    return "\n".join(text) + "\n"


def csv(report: Report) -> str:
    """Values separated by semicolons, which no cell holds."""
    rows = (report.table.headings, *report.table.lines)
    return "".join(";".join(row) + "\n" for row in rows)


def latex(report: Report) -> str:
    """A table to be put into a paper."""
    columns = "l" + "r" * (len(report.table.headings) - 1)
    rows = (report.table.headings, *report.table.lines)
    body = " \\\\\n".join(" & ".join(_escaped(cell) for cell in row) for row in rows)
    return f"\\begin{{tabular}}{{{columns}}}\n{body} \\\\\n\\end{{tabular}}\n"


def reasons(specification: Specification) -> list[str]:
    """Why rows were not run, and what would run them."""
    return [
        f"{row.title} was not run: {row.why.strip()}{f' `{row.command}`' if row.command else ''}"
        for row in specification.not_run
    ]


def shown(interval: Interval) -> str:
    """A value in percent with its interval; a single trial has none."""
    if isnan(interval.low):
        return f"{100 * interval.value:.1f}"
    return f"{100 * interval.value:.1f} ({100 * interval.low:.1f}…{100 * interval.high:.1f})"


class _Column(NamedTuple):
    """A measure at one number of ways and shots, the paper's or ours."""

    ways: int
    shots: int
    measure: str
    of_paper: bool


def _columns(specification: Specification) -> Iterator[_Column]:
    """Ours, each after the paper's where it printed any."""
    printed = {(ways, shots, measure) for _, measure, ways, shots in specification.printed}
    for ways in specification.ways:
        for shots in specification.shots:
            for measure in specification.show:
                if (ways, shots, measure) in printed:
                    yield _Column(ways, shots, measure, of_paper=True)
                yield _Column(ways, shots, measure, of_paper=False)


def _cells(
    specification: Specification,
    found: Mapping[tuple[str, int, int], RowResult],
    method: str,
    columns: Sequence[_Column],
) -> Iterator[str]:
    for column in columns:
        result = found.get((method, column.ways, column.shots))
        if column.of_paper:
            yield _printed(specification, method, column)
        else:
            figures = result.figures if result is not None else {}
            yield shown(figures[column.measure]) if column.measure in figures else NOTHING


def _cells_not_run(specification: Specification, row: NotRun, columns: Sequence[_Column]) -> Iterator[str]:
    return (_printed(specification, row.title, column) if column.of_paper else NOT_RUN for column in columns)


def _printed(specification: Specification, row: str, column: _Column) -> str:
    """What the paper has there."""
    value = specification.printed.get((row, column.measure, column.ways, column.shots))
    return f"{value:g}" if value is not None else NOTHING


def _heading(specification: Specification, column: _Column) -> str:
    parts = [f"N = {column.ways}"] if len(specification.ways) > 1 else []
    parts += [f"K = {column.shots}"] if len(specification.shots) > 1 else []
    return " ".join([*parts, f"{column.measure}, {'paper' if column.of_paper else 'ours'}"])


def _pace(results: Mapping[Row, RowResult]) -> str:
    """Times of all methods against the first, measured in one run; empty where there is nothing to compare."""
    if len(results) < 2 or next(iter(results.values())).seconds == 0.0:
        return ""
    first, *others = results.items()
    title = LINEUP[first[0].method].title
    ratios = [f"{LINEUP[row.method].title} {result.seconds / first[1].seconds:.1f}" for row, result in others]
    return f"Time against {title}, in one run: {', '.join(ratios)}."


def _is_known(results: Mapping[Row, RowResult], measure: str) -> bool:
    """Whether a measure could be counted for some class."""
    return any(figures[measure] is not None for result in results.values() for figures in result.by_class.values())


def _class_table(specification: Specification, results: Mapping[Row, RowResult], measure: str) -> Table:
    """A line for each method, and one for the paper's where it printed the classes."""
    classes = sorted({label for result in results.values() for label in result.by_class})
    lines = []
    for row, result in results.items():
        title = LINEUP[row.method].title
        printed = specification.paper_by_class.get(row.method, {}).get(measure, {})
        if printed:
            lines.append((f"{title}, paper", *(f"{printed[c]:g}" if c in printed else NOTHING for c in classes)))
        values = [result.by_class[label][measure] if label in result.by_class else None for label in classes]
        lines.append((title, *(f"{100 * value:.1f}" if value is not None else NOTHING for value in values)))
    return Table(("method", *classes), tuple(lines))


def _markdown_table(table: Table) -> list[str]:
    rows = (table.headings, ("---",) * len(table.headings), *table.lines)
    return [f"| {' | '.join(row)} |" for row in rows]


def _escaped(text: str) -> str:
    return text.replace("%", "\\%").replace("_", "\\_").replace("κ", "$\\kappa$").replace("…", "--")
