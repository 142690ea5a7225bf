"""Charts say what the results say, and nothing of them is cut off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from samples import paper_method
from tag2box.data import DatasetImage
from tag2box.evaluation import Interval, Verdict, is_correct
from tag2box.experiments.bench.pictures import (
    StepLearner,
    kappa_chart,
    misses_chart,
    moving,
    step_tiles,
    steps_chart,
    task_tiles,
)
from tag2box.experiments.bench.results import Row, RowResult
from tag2box.experiments.bench.specification import PRECISION, QUERY
from tag2box.experiments.bench.tasks import Pool
from tag2box.methods.floors import Floor, objectness
from tag2box.methods.localizers import NO_BACKGROUND, GaussianMil, SceneMil
from tag2box.sphere import KAPPA_RULES
from tag2box.types import Episode, TaggedImage
from tag2box.viz import NEUTRAL, RIGHT, WRONG, draw_shares
from tag2box.worlds import World, plant_task

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
    assert found["weighted vMF-MIL"] == pytest.approx([100.0 * (kind is Verdict.right) for kind in kinds])
    assert found["MI-SVM"] == pytest.approx([50.0 * (kind in {Verdict.right, Verdict.part}) for kind in kinds])


def test_a_table_of_several_cells_shows_the_one_with_the_fewest_images() -> None:
    results = {
        replace(ROW, shots=10): a_result(Verdict.background),
        ROW: a_result(Verdict.right),
        replace(ROW, ways=5): a_result(Verdict.part),
    }
    assert widths(results)["weighted vMF-MIL"][0] == pytest.approx(100.0)


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


def test_the_chart_of_steps_has_a_point_for_each_number_of_them() -> None:
    figures = {QUERY: Interval(0.5, 0.4, 0.7, 9), PRECISION: Interval(0.25, 0.2, 0.3, 9)}
    better = {QUERY: Interval(0.75, 0.7, 0.8, 9), PRECISION: Interval(0.5, 0.4, 0.6, 9)}
    results = {
        ROW: replace(a_result(), figures=better),
        replace(ROW, method="em-0"): replace(a_result(), figures=figures),
        replace(ROW, method="em-12"): replace(a_result(), figures=better),
    }
    figure = steps_chart(results)
    assert figure is not None
    (axes,) = figure.axes
    drawn = {str(line.get_label()): np.asarray(line.get_xydata()).tolist() for line in axes.lines}
    assert drawn == {QUERY: [[0, 50], [12, 75]], PRECISION: [[0, 25], [12, 50]]}
    bands = [set(np.asarray(band.get_paths()[0].vertices)[:, 1].round(6).tolist()) for band in axes.collections]
    assert bands == [{40, 70, 80}, {20, 30, 40, 60}]
    assert steps_chart({ROW: a_result()}) is None


def test_every_rule_for_kappa_is_a_curve_of_its_values() -> None:
    (axes,) = kappa_chart().axes
    assert axes.get_yscale() == "log"
    for line, (name, rule) in zip(axes.lines, KAPPA_RULES.items(), strict=True):
        assert line.get_label() == name
        lengths, values = np.asarray(line.get_xydata()).T
        np.testing.assert_allclose(values, [float(rule(length, 512)) for length in lengths], rtol=1e-9)


def planted(seed: int, ways: int = 1) -> tuple[Pool, dict[str, DatasetImage], Episode]:
    """A task with three support images of each class, and one query, which shows the first."""
    task = plant_task(World(), seed, ways=ways, shots=3)
    everything = {image.bag.image_id: image for image in (*task.support, *task.queries)}
    pool = Pool(lambda name: everything[name].bag, {name: image.truth for name, image in everything.items()})
    images = {name: DatasetImage(Path(name), 240, 320, image.truth) for name, image in everything.items()}
    support = tuple(TaggedImage(image.bag.image_id, image.tags) for image in task.support)
    return pool, images, Episode(0, 0, task.classes, support, (), (task.queries[0].bag.image_id,))


@pytest.mark.parametrize("seed", range(4))
def test_a_chosen_box_is_green_where_it_is_right_and_red_where_it_is_not(seed: int) -> None:
    pool, images, episode = planted(seed)
    label, query = episode.classes[0], episode.queries[0]
    tiles = task_tiles(Floor(objectness), episode, pool, images)
    assert [str(tile.path) for tile in tiles] == [*episode.positives(label), query]
    assert [tile.boxes[-1].words for tile in tiles] == [label, label, label, "query"]
    for tile in tiles:
        bag, truth = pool.bag(str(tile.path)), pool.truths[str(tile.path)]
        *objects, chosen = tile.boxes
        assert [drawn.box.tolist() for drawn in objects] == truth.of_class(label).boxes.tolist()
        assert {drawn.colour for drawn in objects} == {NEUTRAL}
        np.testing.assert_array_equal(chosen.box, bag.boxes[bag.objectness.argmax()])
        assert chosen.colour == (RIGHT if is_correct(chosen.box, truth, label) else WRONG)


PLAIN = paper_method(World())
FILMED: dict[str, StepLearner] = {
    "vmf": PLAIN,
    "gaussian": GaussianMil(0.7, NO_BACKGROUND),
    "scenes": SceneMil(PLAIN, 2.0, 2.0, 1.0),
}


@pytest.mark.parametrize("name", FILMED)
def test_the_film_of_a_task_ends_where_the_method_does(name: str) -> None:
    """With the images of other classes, from which some methods learn too."""
    films, learner = [], FILMED[name]
    for seed in range(6):
        pool, images, episode = planted(seed, ways=2)
        film = step_tiles(learner, episode, pool, images)
        shown = episode.positives(episode.classes[0])
        bags = [pool.bag(name) for name in shown]
        others = [pool.bag(image.image_id) for image in episode.support if image.image_id not in shown]
        assert others
        found, query = learner.learn(bags, others, np.random.default_rng(0)), pool.bag(episode.queries[0])
        assert [tile.boxes[-1].words for tile in film] == [f"step {step}" for step in range(len(found.steps))]
        np.testing.assert_array_equal(film[-1].boxes[-1].box, query.boxes[found.score(query).argmax()])
        films.append(film)
    assert any(map(moving, films))
    assert not moving([films[0][0]] * 3)
    assert not moving([])
