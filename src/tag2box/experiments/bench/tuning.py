"""Choosing the settings of methods on tasks of held-out base classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import final

import numpy as np

from tag2box.errors import SpecificationError
from tag2box.evaluation import mean_average_precision
from tag2box.experiments.bench.figures_of_merit import macro_corloc, matches_by_class, query_hits
from tag2box.experiments.bench.results import Row
from tag2box.experiments.bench.running import Crew, draw_episodes
from tag2box.experiments.bench.specification import PRECISION, TABLE_RULES
from tag2box.experiments.bench.tasks import Trial
from tag2box.experiments.bench.workbench import HELD_OUT, Workbench, load_source
from tag2box.methods.lineup import LINEUP, Chosen
from tag2box.model import Settings, load_settings, save_settings
from tag2box.progress import Progress, Report, silent

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
    learned = sorted(set(classes) & set(bench.trained_classes))
    if learned:
        raise SpecificationError(
            f"the model has learned {learned[0]!r}, on which settings would be chosen.",
            "a model that never saw boxes of the held-out classes",
            "train one with tag2box train --hold-out and give it with --model.",
        )
    return classes


@final
@dataclass(frozen=True)
class Tasks:
    """Of held-out classes, on which something is chosen."""

    shots: int
    tasks: int
    seed: int


def choose_all(
    bench: Workbench, methods: Sequence[str], asked: Tasks, file: Path, progress: Progress, say: Callable[[str], None]
) -> Settings:
    """Choose the settings of methods, one after the other, and keep each in the file; what was chosen so stays."""
    classes = require_tunable(bench, methods)
    for name in methods:
        settings = load_settings(file) if file.exists() else Settings({}, source=str(file))
        facts = {"model": bench.card.fingerprint, "classes": classes, **asdict(asked), "grid": _listed(name)}
        if facts.items() <= settings.chosen_how.get(name, {}).items() and _beside_is(settings, name):
            continue
        with progress(f"Choosing for {name}", len(grid_of(name))) as report:
            chosen, score = choose_settings(bench, name, settings.beside(name), asked, report)
        measure, beside = LINEUP[name].chosen_by, {"beside": dict(settings.beside(name))}
        say(f"{name}: {_shown(chosen)} ({measure} {100 * score:.1f}){_at_the_edge(name, chosen)}")
        save_settings(file, settings.with_choice(name, chosen, facts | beside | {measure: round(score, 4)}))
    return load_settings(file)


def _listed(method: str) -> dict[str, list[float]]:
    return {name: list(values) for name, values in LINEUP[method].grid.items()}


def _beside_is(settings: Settings, method: str) -> bool:
    """Whether the method was chosen beside the settings that stand now."""
    return settings.chosen_how[method].get("beside") == dict(settings.beside(method))


def _shown(chosen: Chosen) -> str:
    return ", ".join(f"{key} {value:g}" for key, value in chosen.items())


def _at_the_edge(method: str, chosen: Chosen) -> str:
    """Which values have a neighbour on one side only, so that a better one may lie outside."""
    edges = [name for name, values in LINEUP[method].grid.items() if chosen[name] in {values[0], values[-1]}]
    return f"; at the edge of its grid: {', '.join(edges)}" if edges else ""


def choose_settings(
    bench: Workbench, method: str, beside: Chosen, asked: Tasks, report: Report
) -> tuple[dict[str, float], float]:
    """The settings with the best figure, the first of several, and that figure; those ``beside`` stand."""
    best: tuple[dict[str, float], float] = {}, -1.0
    ways = DETECTOR_WAYS if LINEUP[method].chosen_by == PRECISION else 1
    tasks, extractor = max(1, asked.tasks // ways), bench.card.fingerprint
    first = Row(HELD_OUT, method, ways, asked.shots, tasks, asked.seed, "uniformly", "COCO", (), extractor)
    episodes = draw_episodes(load_source(bench.data, HELD_OUT), first)
    with Crew(bench, HELD_OUT) as crew:
        for done, tried in enumerate(grid_of(method), 1):
            row = replace(first, chosen=tuple(sorted({**beside, **tried}.items())))
            trials = crew.run(row, episodes, silent)
            score = figure(trials, len(episodes), LINEUP[method].chosen_by)
            best = (tried, score) if score > best[1] else best
            report(done, {"best": best[1]})
    if not best[0]:
        raise SpecificationError(
            f"{method} found nothing that could be judged in {len(episodes)} tasks.",
            "tasks with objects of the held-out classes",
            "ask for more tasks, and check that store and annotations belong together.",
        )
    return best


def figure(trials: Sequence[Trial], tasks: int, measure: str) -> float:
    """Macro CorLoc on queries, or mAP by the rule of COCO."""
    if measure == PRECISION:
        rule = TABLE_RULES["COCO"].average
        matches = list(matches_by_class(trials, tasks).values())
        return mean_average_precision(matches, rule, tasks)(np.arange(tasks))
    labels, owners = [trial.label for trial in trials], [trial.task for trial in trials]
    return macro_corloc(labels, owners, [query_hits(trial.query) for trial in trials], tasks)(np.arange(tasks))
