"""Choosing the settings of methods on tasks of held-out base classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from tag2box.errors import SpecificationError
from tag2box.evaluation import mean_average_precision
from tag2box.experiments.bench.figures_of_merit import PRECISION, macro_corloc, matches_by_class, query_hits
from tag2box.experiments.bench.rows import Row
from tag2box.experiments.bench.running import Crew, draw_episodes
from tag2box.experiments.bench.sources import load_source
from tag2box.experiments.bench.specification import TABLE_RULES
from tag2box.experiments.bench.trials import Trial
from tag2box.experiments.bench.workbench import HELD_OUT, Workbench
from tag2box.methods.lineup import LINEUP, Chosen
from tag2box.progress import Report, silent

DETECTOR_WAYS = 4
"""A detector is judged in photos of other classes too: a fourth as many tasks, of four classes each."""


def grid_of(method: str) -> list[dict[str, float]]:
    """Every combination of the values that may be chosen for a method."""
    grid = LINEUP[method].grid
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def tuned_methods() -> tuple[str, ...]:
    """Methods with something to choose."""
    return tuple(name for name, entry in LINEUP.items() if entry.grid)


def require_tunable(bench: Workbench, methods: Sequence[str]) -> list[str]:
    """The held-out classes, if the model has learned none of them and the methods have something to choose."""
    strangers = [name for name in methods if name not in tuned_methods()]
    if strangers:
        raise SpecificationError(
            f"{strangers[0]!r} has no settings to choose.", f"one of {', '.join(tuned_methods())}", "correct the name."
        )
    classes = list(load_source(bench.data, HELD_OUT).classes)
    learned = sorted(set(classes) & set(bench.card.trained_on["classes"]))
    if learned:
        raise SpecificationError(
            f"the model has learned {learned[0]!r}, on which settings would be chosen.",
            "a model that never saw boxes of the held-out classes",
            "train one with tag2box train --hold-out 20 and give it with --model.",
        )
    return classes


def choose_settings(
    bench: Workbench, method: str, beside: Chosen, shots: int, tasks: int, seed: int, report: Report
) -> tuple[dict[str, float], float]:
    """The settings with the best figure, the first of several, and that figure; those ``beside`` stand."""
    best: tuple[dict[str, float], float] = {}, -1.0
    ways = DETECTOR_WAYS if LINEUP[method].chosen_by == PRECISION else 1
    first = Row(HELD_OUT, method, ways, shots, tasks // ways, seed, "uniformly", "COCO", (), bench.card.fingerprint)
    episodes = draw_episodes(load_source(bench.data, HELD_OUT), first)
    with Crew(bench, HELD_OUT) as crew:
        for done, tried in enumerate(grid_of(method), 1):
            row = replace(first, chosen=tuple(sorted({**beside, **tried}.items())))
            trials = crew.run(row, episodes, silent)
            score = figure(trials, len(episodes), LINEUP[method].chosen_by)
            best = (tried, score) if score > best[1] else best
            report(done, {"best": best[1]})
    return best


def figure(trials: Sequence[Trial], tasks: int, measure: str) -> float:
    """Macro CorLoc on queries, or mAP by the rule of COCO."""
    if measure == PRECISION:
        rule = TABLE_RULES["COCO"].average
        matches = list(matches_by_class(trials, tasks).values())
        return mean_average_precision(matches, rule, tasks)(np.arange(tasks))
    labels, owners = [trial.label for trial in trials], [trial.task for trial in trials]
    return macro_corloc(labels, owners, [query_hits(trial.query) for trial in trials], tasks)(np.arange(tasks))
