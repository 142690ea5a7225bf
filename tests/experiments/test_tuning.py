"""Choosing settings: a walk through a grid, on which tasks, what is said of it, and what is not chosen again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from in_process import run_here
from planted_bench import plant_bench
from tag2box.errors import SpecificationError
from tag2box.evaluation import Matches, Verdict
from tag2box.experiments.bench import tuning
from tag2box.experiments.bench.results import Row
from tag2box.experiments.bench.sources import HELD_OUT, SAME_SCENE
from tag2box.experiments.bench.specification import PRECISION, QUERY
from tag2box.experiments.bench.tasks import Trial
from tag2box.experiments.bench.tuning import (
    Tasks,
    choose_all,
    choose_settings,
    datasets_for,
    figure,
    sources_of,
    tuned_methods,
    walk,
)
from tag2box.experiments.bench.workbench import Workbench
from tag2box.methods.lineup import BOTH, LINEUP, Chosen
from tag2box.model import load_settings
from tag2box.progress import Report, silent

ASKED = Tasks(shots=2, tasks=9, seed=0)
NOTHING = Matches(np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0, dtype=bool), 1)


@contextmanager
def unseen(title: str, total: int) -> Iterator[Report]:
    yield silent


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return plant_bench(tmp_path_factory.mktemp("bench"), images=4)


class Oracle:
    """Instead of a crew: a method is right in so many tasks as ``worth`` says of its settings."""

    def __init__(self, worth: Mapping[tuple[float, float], int]) -> None:
        self.worth = worth
        self.rows: list[Row] = []
        self.datasets: list[str] = []

    def __call__(self, bench: Workbench, dataset: str) -> Oracle:
        self.datasets.append(dataset)
        return self

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, *_: object) -> None: ...

    def run(self, row: Row, episodes: list[Any], report: Report) -> list[Trial]:
        self.rows.append(row)
        chosen = dict(row.chosen)
        right = self.worth.get((chosen["gamma"], chosen["cost"]), 0)
        verdicts = [Verdict.right if n < right else Verdict.part for n in range(len(episodes))]
        return [Trial(n, "cat", (), (verdict,), NOTHING) for n, verdict in enumerate(verdicts)]


def answering(monkeypatch: pytest.MonkeyPatch, *choices: dict[str, float]) -> list[str]:
    """The methods that were chosen for, where the choices are given."""
    asked, waiting = [], list(choices)

    def choose(bench: Workbench, method: str, *_: object) -> tuple[dict[str, float], float]:
        asked.append(method)
        return waiting.pop(0), 0.51234

    monkeypatch.setattr(tuning, "choose_settings", choose)
    return asked


# The walk

grids = st.dictionaries(
    st.sampled_from("abc"), st.lists(st.floats(-5, 5), min_size=1, max_size=6, unique=True), min_size=1
)


@given(grids, st.data())
def test_a_walk_ends_at_the_best_of_a_function_whose_settings_do_not_meddle(
    grid: dict[str, list[float]], draw: st.DataObject
) -> None:
    worth = {
        (name, value): draw.draw(st.floats(0, 1), label=f"{name} {value}")
        for name, values in grid.items()
        for value in values
    }
    tried: list[dict[str, float]] = []

    def figure_of(place: Chosen) -> float:
        tried.append(dict(place))
        return sum(worth[each] for each in place.items())

    heard: list[tuple[int, float]] = []
    end, best = walk(grid, figure_of, lambda done, figures: heard.append((done, figures["best"])))
    assert best == pytest.approx(sum(max(worth[name, value] for value in grid[name]) for name in grid))
    assert sum(worth[each] for each in end.items()) == pytest.approx(best)
    assert len({tuple(place.items()) for place in tried}) == len(tried)  # nothing twice
    assert [done for done, _ in heard] == list(range(1, len(tried) + 1))
    assert [most for _, most in heard] == list(np.maximum.accumulate([sum(worth[e] for e in p.items()) for p in tried]))
    assert tried[0] == {name: values[len(values) // 2] for name, values in grid.items()}
    assert len(tried) <= 1 + 2 * sum(len(values) - 1 for values in grid.values())


def test_a_walk_goes_on_until_no_setting_wants_another_value() -> None:
    """A ridge from (2, 2) to (0, 0), which is climbed a step at a time."""
    worth = {(2, 2): 1.0, (1, 2): 2.0, (1, 1): 3.0, (0, 1): 4.0, (0, 0): 5.0}
    grid = {"a": (0, 1, 2, 3), "b": (0, 1, 2, 3)}
    end, best = walk(grid, lambda place: worth.get((int(place["a"]), int(place["b"])), 0.0), silent)
    assert (end, best) == ({"a": 0, "b": 0}, 5.0)


def test_of_equal_values_the_one_in_the_middle_stays() -> None:
    end, _ = walk({"a": (1.0, 2.0, 3.0), "b": (1.0, 2.0)}, lambda place: 0.5, silent)
    assert end == {"a": 2.0, "b": 2.0}


def test_settings_are_chosen_by_the_walk(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = Oracle({(0.25, 10.0): 2, (0.25, 1.0): 3, (0.5, 1.0): 6, (0.5, 0.1): 6, (1.0, 100.0): 9})
    monkeypatch.setattr(tuning, "Crew", oracle)
    heard: list[tuple[int, float]] = []
    chosen, score = choose_settings(
        bench, "mi-svm", {"other": 7.0}, ASKED, lambda done, figures: heard.append((done, figures["best"]))
    )
    assert chosen == {"gamma": 0.5, "cost": 1.0}  # the best is behind settings that are worth nothing
    assert score == pytest.approx(6 / 9)
    assert [done for done, _ in heard] == list(range(1, len(oracle.rows) + 1))
    assert heard[-1][1] == pytest.approx(score)
    assert {dict(row.chosen)["other"] for row in oracle.rows} == {7.0}  # what stands beside is always there
    assert {(row.ways, row.tasks, row.dataset) for row in oracle.rows} == {(1, 9, HELD_OUT)}


def test_settings_that_find_nothing_are_not_chosen(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "Crew", Oracle({}))
    with pytest.raises(SpecificationError, match="mi-svm found nothing that could be judged in 9 tasks"):
        choose_settings(bench, "mi-svm", {}, ASKED, silent)


# On which tasks


def test_what_users_get_is_chosen_on_photos_of_one_scene_too(bench: Workbench) -> None:
    for name in tuned_methods():
        ours = name in {"vmf-mil-scenes", "vmf-mil-likeness"}
        assert sources_of(bench, name) == (((HELD_OUT,), SAME_SCENE) if ours else ((HELD_OUT,),))
    assert datasets_for(bench, ["mi-svm", "gaussian"]) == [HELD_OUT]
    assert datasets_for(bench, ["mi-svm", "vmf-mil-likeness", "vmf-mil-scenes"]) == [HELD_OUT, *SAME_SCENE]


class SceneOracle(Oracle):
    """Right in the first tasks of each dataset, in so many as ``right`` says, whatever the settings."""

    def __init__(self, right: Mapping[str, int]) -> None:
        super().__init__({})
        self.right = right

    def run(self, row: Row, episodes: list[Any], report: Report) -> list[Trial]:
        self.rows.append(row)
        hits = [n < self.right[row.dataset] for n in range(len(episodes))]
        verdicts = [Verdict.right if hit else Verdict.part for hit in hits]
        return [Trial(n, "cat", (hit,), (v,), NOTHING) for n, (hit, v) in enumerate(zip(hits, verdicts, strict=True))]


def test_both_kinds_of_photos_count_alike_and_each_round_too(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = SceneOracle({HELD_OUT: 6, **dict(zip(SAME_SCENE, (0, 1, 1, 2), strict=True))})
    monkeypatch.setattr(tuning, "Crew", oracle)
    _, score = choose_settings(bench, "vmf-mil-scenes", {}, Tasks(shots=3, tasks=36, seed=1), silent)
    assert oracle.datasets == [HELD_OUT, *SAME_SCENE]
    tasks = {row.dataset: (row.ways, row.tasks) for row in oracle.rows}
    assert tasks == {HELD_OUT: (1, 18)} | dict.fromkeys(SAME_SCENE, (1, 4))  # half and half, and the half in four
    assert score == pytest.approx((6 / 18 + (0 + 1 + 1 + 2) / 4 / 4) / 2)


def test_what_the_tasks_of_the_methods_need_is_extracted_before_anything_is_chosen(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extracted: list[str] = []
    chosen = answering(
        monkeypatch, {"gamma": 0.25, "cost": 10.0}, {name: v[0] for name, v in LINEUP["vmf-mil-scenes"].grid.items()}
    )
    monkeypatch.setattr(Workbench, "prepare", lambda self, name, progress: extracted.append(name))
    assert bench.model is not None
    places = ("--data", bench.data, "--store", bench.store, "--model", bench.model, "-o", tmp_path / "s.json")
    done = run_here("bench", "tune", *places, "--method", "mi-svm")
    assert (done.returncode, extracted, chosen) == (0, [HELD_OUT], ["mi-svm"]), done.stderr
    done = run_here("bench", "tune", *places, "--method", "vmf-mil-scenes")
    assert (done.returncode, extracted[1:]) == (0, [HELD_OUT, *SAME_SCENE]), done.stderr


# What is said and kept


@pytest.mark.parametrize(
    ("gamma", "cost", "edge"),
    [
        (0.25, 10.0, ""),
        (0.0, 1.0, "; at the edge of its grid: gamma"),
        (0.1, 100.0, "; at the edge of its grid: cost"),
        (1.0, 0.01, "; at the edge of its grid: gamma, cost"),
    ],
)
def test_values_at_the_edge_of_a_grid_are_named(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gamma: float, cost: float, edge: str
) -> None:
    answering(monkeypatch, {"gamma": gamma, "cost": cost})
    said: list[str] = []
    settings = choose_all(bench, ["mi-svm"], ASKED, tmp_path / "s.json", unseen, said.append)
    assert said == [f"mi-svm: gamma {gamma:g}, cost {cost:g} (query CorLoc 51.2){edge}"]
    assert settings.of("mi-svm") == {"gamma": gamma, "cost": cost}
    assert load_settings(tmp_path / "s.json").chosen_how["mi-svm"]["query CorLoc"] == 0.5123


def test_progress_ends_where_it_was_said_to_end(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many settings a walk has tried."""
    totals, heard = [], []

    @contextmanager
    def listening(title: str, total: int) -> Iterator[Report]:
        totals.append((title, total))
        yield lambda done, figures: heard.append(done)

    def choose(*given: Any) -> tuple[dict[str, float], float]:
        for done in range(1, 41):
            given[-1](done, {"best": 0.5})
        return {"gamma": 0.25, "cost": 10.0}, 0.5

    monkeypatch.setattr(tuning, "choose_settings", choose)
    choose_all(bench, ["mi-svm"], ASKED, tmp_path / "s.json", listening, lambda words: None)
    assert totals == [("Choosing for mi-svm", 17)]
    assert heard == [*range(1, 17), *[16] * 24, 17]


def test_what_was_chosen_so_is_not_chosen_again_unless_something_has_changed(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {"kappa": 24.0, "background_weight": 4.0, "steps": 3.0}
    factor = {"background_factor": 4.0}
    asked = answering(monkeypatch, first, factor, first | {"kappa": 32.0}, factor, factor)
    both = ["vmf-mil", "kappa-exact"]

    def choose(methods: list[str], how: Tasks = ASKED) -> list[str]:
        before = len(asked)
        choose_all(bench, methods, how, tmp_path / "s.json", unseen, lambda words: None)
        return asked[before:]

    assert choose(both) == both
    assert choose(both) == []
    more = Tasks(shots=2, tasks=10, seed=0)
    assert choose(["vmf-mil"], more) == ["vmf-mil"]  # other tasks
    assert choose(["kappa-exact"]) == ["kappa-exact"]  # the same tasks, beside other settings
    assert choose(["kappa-exact"]) == []
    assert load_settings(tmp_path / "s.json").of("kappa-exact") == first | {"kappa": 32.0} | factor


def test_a_method_without_settings_is_refused_before_anything_is_chosen(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(monkeypatch)
    with pytest.raises(SpecificationError, match="'whole-image' has no settings to choose"):
        choose_all(bench, ["mi-svm", "whole-image"], ASKED, tmp_path / "s.json", unseen, print)
    assert asked == []


def test_support_and_query_count_alike_where_both_are_asked_for() -> None:
    trials = [
        Trial(0, "cat", (True, True), (Verdict.right,), NOTHING),
        Trial(1, "cat", (False, True), (Verdict.part,), NOTHING),
        Trial(1, "dog", (False, False), (Verdict.right,), NOTHING),
    ]
    assert figure(trials, 2, QUERY) == pytest.approx((1 / 2 + 1) / 2)
    assert figure(trials, 2, BOTH) == pytest.approx(((1 / 2 + 1) / 2 + (3 / 4 + 0) / 2) / 2)


def test_detectors_are_judged_by_precision_and_others_by_their_best_region() -> None:
    found = Matches(np.array([0.9, 0.8]), np.array([True, False]), np.zeros(2, dtype=bool), 2)
    missed = Matches(np.array([0.7]), np.array([True]), np.zeros(1, dtype=bool), 1)
    trials = [Trial(0, "cat", (), (Verdict.right,), found), Trial(1, "dog", (), (Verdict.part,), missed)]
    assert figure(trials, 2, QUERY) == pytest.approx(0.5)
    assert figure(trials, 2, PRECISION) == pytest.approx((51 / 101 + 1.0) / 2)  # by 101 points
