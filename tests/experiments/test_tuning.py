"""Choosing settings: the best of a grid, what is said of it, and what is not chosen again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planted_bench import plant_bench
from tag2box.errors import SpecificationError
from tag2box.evaluation import Matches, Verdict
from tag2box.experiments.bench import tuning
from tag2box.experiments.bench.results import Row
from tag2box.experiments.bench.specification import PRECISION, QUERY
from tag2box.experiments.bench.tasks import Trial
from tag2box.experiments.bench.tuning import Tasks, choose_all, choose_settings, figure, grid_of, tuned_methods
from tag2box.experiments.bench.workbench import Workbench
from tag2box.methods.lineup import LINEUP
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
    """Instead of a crew: a method is right in so many of ten tasks as ``worth`` says of its settings."""

    def __init__(self, worth: dict[tuple[float, float], int]) -> None:
        self.worth = worth
        self.rows: list[Row] = []

    def __call__(self, bench: Workbench, dataset: str) -> Oracle:
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


def test_a_grid_holds_every_combination_once() -> None:
    for name in tuned_methods():
        grid = grid_of(name)
        assert len(grid) == np.prod([len(values) for values in LINEUP[name].grid.values()])
        assert len({tuple(sorted(choice.items())) for choice in grid}) == len(grid)
        for setting, values in LINEUP[name].grid.items():
            assert {choice[setting] for choice in grid} == set(values)


def test_the_first_of_the_best_settings_is_chosen(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = Oracle({(0.1, 1.0): 2, (0.25, 10.0): 6, (0.5, 0.1): 6, (1.0, 1.0): 3})
    monkeypatch.setattr(tuning, "Crew", oracle)
    heard: list[tuple[int, float]] = []
    chosen, score = choose_settings(
        bench, "mi-svm", {"other": 7.0}, ASKED, lambda done, figures: heard.append((done, figures["best"]))
    )
    assert chosen == {"gamma": 0.25, "cost": 10.0}
    assert score == pytest.approx(6 / 9)
    assert [done for done, _ in heard] == list(range(1, 21))
    assert [best for _, best in heard] == sorted(best for _, best in heard)
    assert {dict(row.chosen)["other"] for row in oracle.rows} == {7.0}  # what stands beside is always there
    assert {(row.ways, row.tasks) for row in oracle.rows} == {(1, 9)}


def answering(monkeypatch: pytest.MonkeyPatch, *choices: dict[str, float]) -> list[str]:
    """The methods that were chosen for, where the choices are given."""
    asked, waiting = [], list(choices)

    def choose(bench: Workbench, method: str, *_: object) -> tuple[dict[str, float], float]:
        asked.append(method)
        return waiting.pop(0), 0.51234

    monkeypatch.setattr(tuning, "choose_settings", choose)
    return asked


@pytest.mark.parametrize(
    ("gamma", "cost", "edge"),
    [
        (0.25, 10.0, ""),
        (0.0, 1.0, "; at the edge of its grid: gamma"),
        (0.1, 100.0, "; at the edge of its grid: cost"),
        (1.0, 0.1, "; at the edge of its grid: gamma, cost"),
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


def test_detectors_are_judged_by_precision_and_others_by_their_best_region() -> None:
    found = Matches(np.array([0.9, 0.8]), np.array([True, False]), np.zeros(2, dtype=bool), 2)
    missed = Matches(np.array([0.7]), np.array([True]), np.zeros(1, dtype=bool), 1)
    trials = [Trial(0, "cat", (), (Verdict.right,), found), Trial(1, "dog", (), (Verdict.part,), missed)]
    assert figure(trials, 2, QUERY) == pytest.approx(0.5)
    assert figure(trials, 2, PRECISION) == pytest.approx((51 / 101 + 1.0) / 2)  # by 101 points
