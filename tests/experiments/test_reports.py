"""A report says what was measured, what the paper has, and that something is missing where it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planted_bench import some_result
from tag2box.evaluation import Interval
from tag2box.experiments.bench.reports import NOT_RUN, NOTHING, csv, latex, make_report, markdown, page, reasons, shown
from tag2box.experiments.bench.results import Row, RowResult
from tag2box.experiments.bench.specification import (
    EVERY_IMAGE,
    OURS,
    PAPER,
    PRECISION,
    QUERY,
    SUPPORT,
    Expectation,
    NotRun,
    PaperValue,
    Specification,
)

ASKED = Specification("Our table", "Does EM help?", "voc07", ("vmf-mil", "mi-svm"))
ROW = Row("voc07", "vmf-mil", 1, 5, 4, 0, "by images", "VOC", (), "an extractor")
RIVAL = replace(ROW, method="mi-svm")


def valued(value: float, seconds: float = 90.0) -> RowResult:
    """A result that has the same value everywhere."""
    figures = {name: Interval(value, value - 0.1, value + 0.1, 4) for name in (QUERY, SUPPORT, PRECISION)}
    return replace(some_result(True, True, True, False), figures=figures, seconds=seconds)


def test_every_cell_of_a_table_has_its_column_and_says_which_it_is() -> None:
    asked = replace(ASKED, ways=(1, 5), shots=(5, 10), show=(SUPPORT, QUERY))
    cells = [(ways, shots) for ways in (1, 5) for shots in (5, 10)]
    values = {cell: 0.2 + 0.1 * place for place, cell in enumerate(cells)}
    results = {replace(ROW, ways=ways, shots=shots): valued(values[ways, shots]) for ways, shots in reversed(cells)}
    table = make_report(asked, results).table
    wanted = [f"N = {n} K = {k} {name}, ours" for n, k in cells for name in (SUPPORT, QUERY)]
    assert table.headings == ("method", *wanted)
    assert table.lines[0] == (
        "weighted vMF-MIL",
        *(shown(Interval(v, v - 0.1, v + 0.1, 4)) for v in values.values() for _ in "12"),
    )
    assert table.lines[1] == ("MI-SVM", *[NOTHING] * 8)  # not run yet


def test_ways_and_shots_are_named_only_where_there_are_several() -> None:
    assert make_report(replace(ASKED, shots=(5, 10), show=(QUERY,)), {}).table.headings[1:] == (
        "K = 5 query CorLoc, ours",
        "K = 10 query CorLoc, ours",
    )
    assert make_report(ASKED, {}).table.headings[1:] == ("query CorLoc, ours", "mAP, ours")


def test_the_papers_number_stands_before_ours_where_it_printed_one() -> None:
    paper = (PaperValue("vmf-mil", QUERY, 53.2, 1, 10), PaperValue("mi-svm", PRECISION, 7.0, 1, 5))
    asked = replace(ASKED, shots=(5, 10), paper=paper)
    table = make_report(asked, {ROW: valued(0.5)}).table
    assert [heading.removeprefix("K = ") for heading in table.headings[1:]] == [
        "5 query CorLoc, ours",
        "5 mAP, paper",
        "5 mAP, ours",
        "10 query CorLoc, paper",
        "10 query CorLoc, ours",
        "10 mAP, ours",
    ]
    ours = "50.0 (40.0…60.0)"
    assert table.lines == (
        ("weighted vMF-MIL", ours, NOTHING, ours, "53.2", NOTHING, NOTHING),
        ("MI-SVM", NOTHING, "7", NOTHING, NOTHING, NOTHING, NOTHING),
    )


def test_classes_have_a_table_where_there_is_one_cell() -> None:
    one = replace(some_result(True), by_class={"cat": {QUERY: 0.5, "AP": None}, "ant": {QUERY: None, "AP": None}})
    other = replace(one, by_class={"dog": {QUERY: 0.125, "AP": None}})
    asked = replace(ASKED, paper_by_class={"mi-svm": {QUERY: {"dog": 12.0, "ant": 3.5}}})
    by_class = make_report(asked, {ROW: one, RIVAL: other}).by_class
    assert list(by_class) == [QUERY]  # of AP nothing is known
    assert by_class[QUERY].headings == ("method", "ant", "cat", "dog")
    assert by_class[QUERY].lines == (
        ("weighted vMF-MIL", NOTHING, "50.0", NOTHING),
        ("MI-SVM, paper", "3.5", NOTHING, "12"),
        ("MI-SVM", NOTHING, NOTHING, "12.5"),
    )
    assert make_report(replace(asked, shots=(5, 10)), {ROW: one, RIVAL: other}).by_class == {}


def test_hypotheses_are_judged_in_every_cell_that_both_methods_have_and_counted_by_whose_they_are() -> None:
    asked = replace(ASKED, shots=(5, 10, 20), expect=(Expectation("vmf-mil", "mi-svm", PAPER),))
    right, wrong = some_result(True, True, True, True), some_result(False, False, False, False)
    twenty = {replace(ROW, shots=20): wrong, replace(RIVAL, shots=20): right}
    report = make_report(asked, {ROW: right, RIVAL: wrong, replace(ROW, shots=10): right} | twenty)
    assert [(seen.shots, seen.words, seen.difference.value) for seen in report.comparisons] == [
        (5, "yes", 1.0),
        (20, "no", -1.0),
    ]
    unsure = make_report(asked, {ROW: right, RIVAL: right})
    assert [seen.words for seen in unsure.comparisons] == ["not decided"]  # no difference at all
    ours = make_report(
        replace(ASKED, expect=(Expectation("vmf-mil", "mi-svm", OURS, after=True),)), {ROW: right, RIVAL: wrong}
    )
    text = page([(report, "first section"), (unsure, "second section"), (report, "third section"), (ours, "")])
    assert "\n\n| hypotheses | yes | not decided | no | written after the result |\n" in text
    assert "\n| The paper's | 2 | 1 | 2 | 0 |\n| Ours | 1 | 0 | 0 | 1 |\n\nfirst section" in text
    assert text.count("conditional on the pool of photos and on one trained model") == 1
    assert text.index("first section") < text.index("second section") < text.index("third section")


def test_times_are_compared_where_every_image_is_used_and_nowhere_else() -> None:
    results = {ROW: valued(0.5, seconds=30.0), RIVAL: valued(0.5, seconds=75.0)}
    assert make_report(ASKED, results).pace == ""
    report = make_report(replace(ASKED, draw=EVERY_IMAGE), results)
    assert report.pace == "Time against weighted vMF-MIL, in one run: MI-SVM 2.5."
    assert report.minutes == pytest.approx(1.75)
    assert make_report(replace(ASKED, draw=EVERY_IMAGE), {}).pace == ""


def test_a_section_holds_all_that_a_report_knows_in_order() -> None:
    asked = replace(ASKED, draw=EVERY_IMAGE, remark="\nWe looked.\n", expect=(Expectation("vmf-mil", "mi-svm", PAPER),))
    report = make_report(asked, {ROW: some_result(True, True, True, True), RIVAL: some_result(False, True, True, True)})
    text = markdown(report, "tag2box bench run t.toml", ["a.svg", "b.png"])
    parts = [
        "## Our table\n\nDoes EM help?\n\n`tag2box bench run t.toml` · 2,000 tasks, voc07, 0 min on 2 cores\n\n",
        "| method | query CorLoc, ours | mAP, ours |\n| --- | --- | --- |\n| weighted vMF-MIL | 50.0 (40.0…60.0) |",
        "query CorLoc of each class:\n\n| method | cat |\n",
        report.pace,
        "\n\nThe paper's:\n\n- weighted vMF-MIL above MI-SVM in query CorLoc (1-way 5-shot): **",
        "\n\nWe looked.\n\n![Our table](a.svg)\n\n![Our table](b.png)\n",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    bare = markdown(make_report(ASKED, {}), "x")
    assert "`x` · 2,000 tasks, voc07, not run with this model yet\n" in bare
    assert "- " not in bare.replace("---", "")
    assert "The paper's" not in bare
    assert "![" not in bare


def test_a_row_that_was_not_run_has_the_papers_numbers_and_a_reason() -> None:
    tree = NotRun("Greedy Tree", "It has no code.\n", "make tree", {QUERY: 53.0})
    asked = replace(ASKED, methods=("vmf-mil",), not_run=(tree, NotRun("Another", "It takes a month.")))
    report = make_report(asked, {ROW: valued(0.5)})
    assert report.table.headings[1:] == ("query CorLoc, paper", "query CorLoc, ours", "mAP, ours")
    assert report.table.lines[1:] == (
        ("Greedy Tree", "53", NOT_RUN, NOT_RUN),
        ("Another", NOTHING, NOT_RUN, NOT_RUN),
    )
    assert reasons(asked) == [
        "Greedy Tree was not run: It has no code. `make tree`",
        "Another was not run: It takes a month.",
    ]
    below = "| Another | – | not run | not run |\n\n" + "\n\n".join(reasons(asked)) + "\n"
    assert below in markdown(report, "x")
    several = replace(ASKED, shots=(5, 10), not_run=(NotRun("T", "w"),), paper=(PaperValue("T", QUERY, 7.0, shots=10),))
    table = make_report(several, {}).table
    column = table.headings.index("K = 10 query CorLoc, paper")
    assert [line[column] for line in table.lines] == [NOTHING, NOTHING, "7"]


def test_the_same_cells_are_in_every_form_of_a_table() -> None:
    asked = replace(ASKED, methods=("kappa-order-0", "mi-svm"), paper=(PaperValue("mi-svm", QUERY, 53.2),))
    report = make_report(asked, {replace(ROW, method="kappa-order-0"): valued(0.5)})
    lines = csv(report).splitlines()
    assert [tuple(line.split(";")) for line in lines] == [report.table.headings, *report.table.lines]
    text = latex(report)
    assert text.startswith(
        "\\begin{tabular}{lrrr}\nmethod & query CorLoc, paper & query CorLoc, ours & mAP, ours \\\\\n"
    )
    assert "$\\kappa$ by order-0 & – & 50.0 (40.0--60.0) & 50.0 (40.0--60.0) \\\\\n" in text
    assert text.endswith("MI-SVM & 53.2 & – & – \\\\\n\\end{tabular}\n")


def test_what_has_a_meaning_in_latex_is_escaped() -> None:
    report = make_report(ASKED, {})
    odd = replace(report, table=replace(report.table, headings=("a_b", "50 %"), lines=(("κ", "1…2"),)))
    assert latex(odd) == "\\begin{tabular}{lr}\na\\_b & 50 \\% \\\\\n$\\kappa$ & 1--2 \\\\\n\\end{tabular}\n"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_shown_number_can_be_read_back_to_half_a_tenth_of_a_percent(value: float, low: float, high: float) -> None:
    text = shown(Interval(value, low, high, 9))
    read = [float(part) for part in text.rstrip(")").replace(" (", "…").split("…")]
    assert read == pytest.approx([100 * value, 100 * low, 100 * high], abs=0.0501)


def test_what_was_not_measured_is_no_number() -> None:
    nothing = replace(valued(0.5), figures={})
    (line,) = make_report(replace(ASKED, methods=("vmf-mil",)), {ROW: nothing}).table.lines
    assert line[1:] == (NOTHING,) * len(line[1:])


def test_where_there_is_nothing_to_compare_nothing_is_said() -> None:
    asked = replace(ASKED, draw=EVERY_IMAGE)
    assert make_report(asked, {ROW: valued(0.5)}).pace == ""
    assert make_report(asked, {ROW: valued(0.5, seconds=0.0), RIVAL: valued(0.5)}).pace == ""
    assert "hypotheses" not in page([(make_report(asked, {ROW: valued(0.5)}), "")])
