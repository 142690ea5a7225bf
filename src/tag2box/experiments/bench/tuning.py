"""Choosing the settings of methods on tasks of held-out base classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

from tag2box.errors import SpecificationError
from tag2box.evaluation import mean_average_precision
from tag2box.experiments.bench.figures_of_merit import macro_corloc, matches_by_class, query_hits
from tag2box.experiments.bench.results import Row
from tag2box.experiments.bench.running import Crew, draw_episodes
from tag2box.experiments.bench.sources import HELD_OUT, PRACTICAL
from tag2box.experiments.bench.specification import PRECISION, TABLE_RULES
from tag2box.experiments.bench.tasks import Trial
from tag2box.experiments.bench.workbench import Workbench
from tag2box.methods.lineup import BOTH, LINEUP, Chosen
from tag2box.model import Settings, load_settings, save_settings
from tag2box.progress import Progress, Report, silent
from tag2box.types import Episode

NOTHING_JUDGED = 0.0
SEVERAL_WAYS = 4
"""A detector is judged in photos of other classes too, and people teach several things at once: a fourth as many
tasks, of four classes each."""


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
    trained = set(bench.trained_classes)  # first: a folder without a model is refused at once
    classes = list(bench.load(HELD_OUT).classes)
    learned = sorted(trained.intersection(classes))
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
        facts["tasks of"] = datasets_for(bench, [name])
        if facts.items() <= settings.chosen_how.get(name, {}).items() and _beside_is(settings, name):
            continue
        steps = _steps(name)
        with progress(f"Choosing for {name}", steps) as report:
            chosen, score = choose_settings(bench, name, settings.beside(name), asked, _before(steps, report))
            report(steps, {"best": score})
        measure, beside = LINEUP[name].chosen_by, {"beside": dict(settings.beside(name))}
        say(f"{name}: {_shown(chosen)} ({measure} {100 * score:.1f}){_at_the_edge(name, chosen)}")
        save_settings(file, settings.with_choice(name, chosen, facts | beside | {measure: round(score, 4)}))
    return load_settings(file)


def _steps(method: str) -> int:
    """About how many settings a walk will try: twice round, without those that were tried."""
    values = [len(values) for values in LINEUP[method].grid.values()]
    return 1 + 2 * (sum(values) - len(values))


def _before(end: int, report: Report) -> Report:
    """Nobody knows how many settings a walk will try: it has not reached its end before it is there."""
    return lambda done, figures: report(min(done, end - 1), figures)


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
    """The settings with the best figure, and that figure; those ``beside`` stand.

    One setting after the other takes the value that is best beside the others, from the middle of the grid, until none
    wants another: all combinations would take days.
    """
    entry = LINEUP[method]
    with ExitStack() as stack:
        parts = list(_parts(bench, method, asked, stack))

        def figure_of(place: Chosen) -> float:
            return sum(part.figure({**beside, **place}, entry.chosen_by) for part in parts)

        best = walk(entry.grid, figure_of, report)
    if not best[1] > NOTHING_JUDGED:
        raise SpecificationError(
            f"{method} found nothing that could be judged in {asked.tasks} tasks.",
            "tasks with objects of the held-out classes",
            "ask for more tasks, and check that store and annotations belong together.",
        )
    return best


def walk(
    grid: Mapping[str, Sequence[float]], figure_of: Callable[[Chosen], float], report: Report
) -> tuple[dict[str, float], float]:
    """Where the walk through a grid ends, and the figure there; of equal values the first stays."""
    here = {name: values[len(values) // 2] for name, values in grid.items()}
    tried: dict[tuple[float, ...], float] = {}

    def score(place: dict[str, float]) -> float:
        key = tuple(place.values())
        if key not in tried:
            tried[key] = figure_of(place)
            report(len(tried), {"best": max(tried.values())})
        return tried[key]

    before = None
    while here != before:
        before = dict(here)
        for name, values in grid.items():
            here = max(({**here, name: value} for value in (here[name], *values)), key=score)
    return here, score(here)


class _Part(NamedTuple):
    """Tasks of one dataset, who does them, and how much they count."""

    crew: Crew
    row: Row
    episodes: list[Episode]
    share: float

    def figure(self, chosen: Chosen, measure: str) -> float:
        """What settings are worth here, by the share that this part has of the whole."""
        row = replace(self.row, chosen=tuple(sorted(chosen.items())))
        return self.share * figure(self.crew.run(row, self.episodes, silent), len(self.episodes), measure)


def _parts(bench: Workbench, method: str, asked: Tasks, stack: ExitStack) -> Iterator[_Part]:
    """The tasks that a method is chosen on; every set of datasets counts alike, and so does each dataset in it."""
    groups, extractor = sources_of(bench, method), bench.card.fingerprint
    for group in groups:
        for name in group:
            ways = SEVERAL_WAYS if LINEUP[method].chosen_by == PRECISION or name in PRACTICAL else 1
            tasks = max(1, asked.tasks // ways // len(groups) // len(group))
            row = Row(name, method, ways, asked.shots, tasks, asked.seed, "uniformly", "COCO", (), extractor)
            crew = stack.enter_context(Crew(bench, name))
            yield _Part(crew, row, draw_episodes(bench.load(name), row), 1 / len(group) / len(groups))


def sources_of(bench: Workbench, method: str) -> tuple[tuple[str, ...], ...]:
    """On what a method is chosen: sets of datasets that count alike."""
    return bench.like_users if LINEUP[method].for_people else ((HELD_OUT,),)


def datasets_for(bench: Workbench, methods: Sequence[str]) -> list[str]:
    """Every dataset that some methods are chosen on, once."""
    return list(dict.fromkeys(name for method in methods for group in sources_of(bench, method) for name in group))


def figure(trials: Sequence[Trial], tasks: int, measure: str) -> float:
    """Macro CorLoc on queries, or its mean with that on support images, or mAP by the rule of COCO."""
    if measure == PRECISION:
        rule = TABLE_RULES["COCO"].average
        matches = list(matches_by_class(trials, tasks).values())
        return mean_average_precision(matches, rule, tasks)(np.arange(tasks))
    labels, owners = [trial.label for trial in trials], [trial.task for trial in trials]
    hits = [[query_hits(trial.query) for trial in trials]]
    if measure == BOTH:
        hits.append([trial.support for trial in trials])
    return float(np.mean([macro_corloc(labels, owners, each, tasks)(np.arange(tasks)) for each in hits]))
