"""Charts say what the results say, and nothing of them is cut off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tag2box.evaluation import Interval, Verdict
from tag2box.experiments.bench.pictures import misses_chart
from tag2box.experiments.bench.results import Row, RowResult
from tag2box.viz import draw_shares

ROW = Row("voc07", "vmf-mil", 1, 5, 4, 0, "by images", "VOC", (), "an extractor")


def a_result(*verdicts: Verdict) -> RowResult:
    labels, tasks = ("cat",) * len(verdicts), tuple(range(len(verdicts)))
    return RowResult({}, {}, labels, tasks, tuple((verdict,) for verdict in verdicts), ((),), (), 1.0)


def widths(results: dict[Row, RowResult]) -> dict[str, list[float]]:
    """Shares of each bar, in percent, by the method's title."""
    figure = misses_chart(results)
    assert figure is not None
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    bars = np.array([[bar.get_width() for bar in kind] for kind in axes.containers])
    return dict(zip(names, bars.T.tolist(), strict=True))


def test_each_method_is_a_bar_of_its_verdicts() -> None:
    right, part = a_result(Verdict.right, Verdict.right), a_result(Verdict.right, Verdict.part)
    found = widths({ROW: right, replace(ROW, method="mi-svm"): part})
    kinds = list(Verdict)
    assert found["vMF-MIL"] == pytest.approx([100.0 * (kind is Verdict.right) for kind in kinds])
    assert found["MI-SVM"] == pytest.approx([50.0 * (kind in {Verdict.right, Verdict.part}) for kind in kinds])


def test_a_table_of_several_cells_shows_the_one_with_the_fewest_images() -> None:
    results = {
        replace(ROW, shots=10): a_result(Verdict.background),
        ROW: a_result(Verdict.right),
        replace(ROW, ways=5): a_result(Verdict.part),
    }
    assert widths(results)["vMF-MIL"][0] == pytest.approx(100.0)


def test_without_queries_there_is_no_chart() -> None:
    assert misses_chart({}) is None
    assert misses_chart({ROW: replace(a_result(), figures={"support CorLoc": Interval(0.5, 0.4, 0.6, 9)})}) is None


@pytest.mark.parametrize("bars", [1, 3, 12])
def test_the_legend_lies_inside_the_picture(bars: int) -> None:
    kinds = [str(kind) for kind in Verdict]
    name = "vMF-MIL with objectness, likeness head"
    figure = draw_shares("Shares", kinds, {f"{name} {bar}": [1 / len(kinds)] * len(kinds) for bar in range(bars)})
    figure.draw_without_rendering()
    (legend,) = figure.legends
    inside, whole = legend.get_window_extent(), figure.bbox
    assert whole.x0 <= inside.x0 < inside.x1 <= whole.x1
    assert whole.y0 <= inside.y0 < inside.y1 <= figure.axes[0].get_window_extent().y0
