"""Experiments as files: those that ship can be read, and a mistake in one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tag2box.errors import SpecificationError
from tag2box.experiments.bench.sources import SOURCES
from tag2box.experiments.bench.specification import (
    PAPER,
    QUERY,
    Expectation,
    Hypothesis,
    MoreShots,
    NotRun,
    read_specification,
)

SHIPPED = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))
GOOD = 'title = "t"\nquestion = "q?"\ndataset = "voc07"\nmethods = ["vmf-mil"]\n'
EXPECT = '[[expect]]\nbetter = "vmf-mil"\nworse = "vmf-mil"\nby = "paper"\n'
MORE = GOOD + 'shots = [5, 10]\n[[expect_more]]\nmethod = "vmf-mil"\nfewer = 5\nmore = 10\nby = "ours"\n'
NOT_RUN = GOOD + '[[not_run]]\ntitle = "Greedy Tree"\nwhy = "It has no code."\n'


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_experiment_that_ships_can_be_run(path: Path) -> None:
    asked = read_specification(path)
    assert asked.dataset in SOURCES
    assert f"experiments/{path.name}" in path.read_text()  # the header says how to run it


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_is_said_to_be_the_papers_is_what_the_paper_printed(path: Path) -> None:
    """Wherever the file has both of its numbers."""
    asked = read_specification(path)
    printed, cells = asked.printed, [(ways, shots) for ways in asked.ways for shots in asked.shots]
    hypotheses: list[Hypothesis] = [*asked.expect, *asked.expect_more]
    wrong = []
    for one in hypotheses:
        for ways, shots in cells:
            if isinstance(one, MoreShots):
                better, worse = (one.method, one.measure, ways, shots), (one.method, one.measure, ways, one.fewer)
            else:
                better, worse = (one.better, one.measure, ways, shots), (one.worse, one.measure, ways, shots)
            known = better in printed and worse in printed
            if one.by == PAPER and one.covers(ways, shots) and known and printed[better] <= printed[worse]:
                wrong.append((better, worse))
    assert wrong == []


def test_a_hypothesis_is_about_all_cells_unless_it_says_which() -> None:
    everywhere, some = Expectation("vmf-mil", "mi-svm", PAPER), Expectation("vmf-mil", "mi-svm", PAPER, shots=5, ways=1)
    cells = [(1, 5), (1, 10), (2, 5)]
    assert [cell for cell in cells if everywhere.covers(*cell)] == cells
    assert [cell for cell in cells if some.covers(*cell)] == [(1, 5)]
    assert [cell for cell in cells if MoreShots("vmf-mil", 5, 10, PAPER).covers(*cell)] == [(1, 10)]
    assert not MoreShots("vmf-mil", 5, 10, PAPER, ways=2).covers(1, 10)


def test_everything_about_a_hypothesis_and_a_row_that_was_not_run_is_read(tmp_path: Path) -> None:
    path = tmp_path / "good.toml"
    path.write_text(
        MORE
        + 'ways = 1\nmeasure = "mAP"\nafter = true\n'
        + EXPECT
        + "shots = 10\n"
        + NOT_RUN.removeprefix(GOOD)
        + '[[paper]]\nmethod = "Greedy Tree"\nmeasure = "mAP"\nvalue = 9\nshots = 10\n'
    )
    asked = read_specification(path)
    assert asked.expect == (Expectation("vmf-mil", "vmf-mil", "paper", shots=10),)
    assert asked.expect_more == (MoreShots("vmf-mil", 5, 10, "ours", "mAP", ways=1, after=True),)
    assert asked.not_run == (NotRun("Greedy Tree", "It has no code."),)
    assert asked.printed == {("Greedy Tree", "mAP", 1, 10): 9}
    path.write_text(NOT_RUN + 'command = "make tree"\npaper = { "query CorLoc" = 53.0 }\n')
    asked = read_specification(path)
    assert asked.not_run[0].command == "make tree"
    assert asked.printed == {("Greedy Tree", QUERY, 1, 5): 53.0}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (GOOD + "kappas = 3\n", "unknown key 'kappas'"),
        (GOOD.replace("vmf-mil", "vmf-mli"), "methods is 'vmf-mli'"),
        (GOOD + 'draw = "often"\n', "draw is 'often'"),
        (GOOD + 'draw = "by objects"\nways = [1, 5]\n', r"ways is \(1, 5\)"),
        (GOOD + "shots = []\n", "shots is"),
        (GOOD + "tasks = 0\n", "tasks is"),
        (GOOD + '[[paper]]\nmethod = "mi-svm"\nmeasure = "mAP"\nvalue = 1\n', "paper is 'mi-svm'"),
        (GOOD + 'claim = "EM helps."\n', "unknown key 'claim'"),
        (GOOD.replace("q?", "EM helps."), "question is 'EM helps.'"),
        (GOOD + EXPECT + 'measure = "speed"\n', "expect is 'speed'"),
        (GOOD + EXPECT.replace('worse = "vmf-mil"', 'worse = "mi-svm"'), "expect is 'mi-svm'"),
        (GOOD + EXPECT.replace('by = "paper"\n', ""), "expect has no 'by'"),
        (GOOD + EXPECT.replace("paper", "somebody"), "by of expect is 'somebody'"),
        (GOOD + EXPECT + 'after = "yes"\n', "after of expect is 'yes'"),
        (GOOD + EXPECT + "shots = 10\n", "shots of expect is 10"),
        (GOOD + EXPECT + "ways = 5\n", "ways of expect is 5"),
        (MORE.replace('by = "ours"\n', ""), "expect_more has no 'by'"),
        (MORE.replace('by = "ours"', 'by = "us"'), "by of expect_more is 'us'"),
        (MORE.replace('method = "vmf-mil"', 'method = "mi-svm"'), "expect_more is 'mi-svm'"),
        (MORE.replace("more = 10", "more = 20"), "shots of expect_more is 20"),
        (MORE.replace("more = 10", "more = 5"), "more of expect_more is 5"),
        (MORE + "ways = 5\n", "ways of expect_more is 5"),
        (MORE + 'measure = "class-agnostic CorLoc"\n', "expect_more is 'class-agnostic CorLoc'"),
        (NOT_RUN.replace('why = "It has no code."\n', ""), "not_run has no 'why'"),
        (NOT_RUN.replace("It has no code.", " "), "why of not_run is ' '"),
        (
            NOT_RUN.replace("Greedy Tree", "weighted vMF-MIL"),
            "title of not_run is 'weighted vMF-MIL'",
        ),
        (NOT_RUN + NOT_RUN.removeprefix(GOOD), "title of not_run is 'Greedy Tree'"),
        (NOT_RUN.replace("Greedy Tree", "a;b"), "title of not_run is 'a;b'"),
        (NOT_RUN + "paper = 53.0\n", "paper of not_run is 53.0"),
        (NOT_RUN + 'paper = { mAP = "53" }\n', "paper of not_run is {'mAP': '53'}"),
        (NOT_RUN + "paper = { speed = 53 }\n", "paper of not_run is 'speed'"),
        (
            NOT_RUN.replace("[[not", "shots = [5, 10]\n[[not") + "paper = { mAP = 53 }\n",
            "paper of not_run is {'mAP': 53}",
        ),
        (GOOD + '[[expect]]\nbeter = "vmf-mil"\n', "unknown key 'beter'"),
        ('title = "t"\n', "the experiment has no 'question'"),
        ("title = ", "cannot be read"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(SpecificationError, match=complaint) as raised:
        read_specification(path)
    assert "wrong.toml" in raised.value.wrong
