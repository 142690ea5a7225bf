"""Hypotheses in words: whose they are, what became of them, and whether the result was there first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tag2box.evaluation import Interval
from tag2box.experiments.bench.figures_of_merit import Comparison
from tag2box.experiments.bench.hypotheses import AFTER, counted, listed, sentence
from tag2box.experiments.bench.specification import OURS, PAPER, PRECISION, Expectation, MoreShots

ORDER = Expectation("vmf-mil", "mi-svm", PAPER)
YES, NO, OPEN = Interval(0.15, 0.1, 0.2, 9), Interval(-0.15, -0.2, -0.1, 9), Interval(0.0, -0.1, 0.1, 9)


@pytest.mark.parametrize(("seen", "words"), [(YES, "yes"), (NO, "no"), (OPEN, "not decided")])
def test_a_difference_in_words(seen: Interval, words: str) -> None:
    comparison = Comparison(ORDER, 1, 5, seen)
    text = "weighted vMF-MIL above MI-SVM in query CorLoc (1-way 5-shot): "
    assert f"{text}{words}," in sentence(comparison)
    assert f"{text}**{words}**," in sentence(comparison, "**")


def test_a_sentence_ends_with_the_interval_and_says_if_the_result_was_there_first() -> None:
    first, later = (sentence(Comparison(replace(ORDER, after=after), 1, 5, YES)) for after in (False, True))
    assert first.endswith("difference +15.0 (+10.0 … +20.0)")
    assert later == first + " (written after the result)"


def test_more_images_in_words() -> None:
    comparison = Comparison(MoreShots("vmf-mil", 5, 10, PAPER, PRECISION), 20, 10, NO)
    assert sentence(comparison) == (
        "weighted vMF-MIL with 10 images above 5 in mAP (20-way): no, difference -15.0 (-20.0 … -10.0)"
    )


def test_the_papers_hypotheses_stand_before_ours_in_their_own_order() -> None:
    ours, late = replace(ORDER, by=OURS), replace(ORDER, by=OURS, after=True)
    seen = [Comparison(ours, 1, 5, YES), Comparison(ORDER, 1, 5, NO), Comparison(late, 1, 10, OPEN)]
    assert listed(seen, "*") == [
        "",
        "The paper's:",
        "",
        f"- {sentence(seen[1], '*')}",
        "",
        "Ours:",
        "",
        f"- {sentence(seen[0], '*')}",
        f"- {sentence(seen[2], '*')}",
    ]
    assert listed(seen)[-1].endswith(AFTER)
    assert "The paper's:" not in listed([seen[0]])
    assert listed([]) == []


def test_verdicts_are_counted_apart() -> None:
    late = replace(ORDER, after=True)
    seen = [Comparison(ORDER, 1, 5, NO), Comparison(late, 1, 10, NO), Comparison(late, 1, 20, OPEN)]
    more = Comparison(MoreShots("vmf-mil", 5, 10, OURS), 1, 10, YES)
    assert counted([*seen, more]) == [
        "| hypotheses | yes | not decided | no | written after the result |",
        "| --- | --- | --- | --- | --- |",
        "| The paper's | 0 | 1 | 2 | 2 |",
        "| Ours | 1 | 0 | 0 | 0 |",
    ]
