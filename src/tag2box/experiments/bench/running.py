"""Running the rows of a table: the same tasks for every method, on all cores, each result kept when it is there."""

from __future__ import annotations

import os
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib import metadata
from math import isnan
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, final

import numpy as np

from tag2box.data import Dataset, Draws, EpisodePool, EpisodeSampler, pool_of
from tag2box.evaluation import Matches
from tag2box.experiments.bench.figures_of_merit import matches_by_class, measure, precision_of, query_hits
from tag2box.experiments.bench.results import Row, RowResult, save_result
from tag2box.experiments.bench.specification import DRAWS, EVERY_IMAGE, QUERY, TABLE_RULES
from tag2box.experiments.bench.tasks import Trial, try_method
from tag2box.experiments.bench.workbench import Workbench
from tag2box.methods.lineup import LINEUP
from tag2box.progress import Progress, Report
from tag2box.types import Episode, TaggedImage

MOST_NEGATIVES = 200
"""Images without the class, where all images with it are given: they are for MI-SVM, whose time they decide."""
CHUNK = 10
"""Tasks that a worker takes at a time, if there are many."""
PROJECT, PACKAGE = "tag2box", Path(__file__).parents[2]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def draw_episodes(dataset: Dataset, row: Row) -> list[Episode]:
    """The tasks of a row: they depend on the images, ways, shots and seed, and on no method.

    Classes with too few images are left out. In tasks of one class as many images without it are drawn as with it,
    for methods that need some.
    """
    if row.draw == EVERY_IMAGE:
        return class_episodes(pool_of(dataset, 2), row.seed)
    negatives = row.shots if row.ways == 1 else 0
    pool, draw = pool_of(dataset, row.shots + 1), DRAWS[row.draw]
    return EpisodeSampler(pool, row.ways, row.shots, row.seed, negatives, draw_classes=draw).episodes(row.tasks)


def class_episodes(pool: EpisodePool, seed: int) -> list[Episode]:
    """One task a class: all of its images, as many others up to a limit, and nothing to ask."""
    episodes = []
    for index, (label, shown) in enumerate(pool.images.items()):
        absent = [image for image in pool.ids if label not in pool.tags[image]]
        negatives = Draws(seed, index).sample(absent, min(len(shown), MOST_NEGATIVES, len(absent)))
        support = tuple(TaggedImage(image, (label,)) for image in shown)
        episodes.append(Episode(seed, index, (label,), support, tuple(negatives), ()))
    return episodes


@final
class Crew:
    """Worker processes that keep the bags of one dataset, for as many rows as there are."""

    def __init__(self, bench: Workbench, dataset: str, workers: int | None = None) -> None:
        workers = workers or os.cpu_count() or 1
        self._pool = ProcessPoolExecutor(
            workers, get_context("spawn"), initializer=_prepare, initargs=(bench, dataset, workers)
        )

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def run(self, row: Row, episodes: Sequence[Episode], report: Report) -> list[Trial]:
        """All trials of a row, in the order of the tasks."""
        size = 1 if row.draw == EVERY_IMAGE or len(episodes) < 10 * CHUNK else CHUNK
        chunks = [episodes[start : start + size] for start in range(0, len(episodes), size)]
        trials: list[Trial] = []
        with _one_thread_each():
            answers = self._pool.map(_work, [row] * len(chunks), chunks)
        for done, answer in enumerate(answers, 1):
            trials += answer
            report(min(done * size, len(episodes)), {})
        return trials


def run_rows(bench: Workbench, rows: Sequence[Row], progress: Progress) -> None:
    """Run every row of a table that has no result yet, and keep each result when it is there."""
    waiting = [row for row in rows if not row.file(bench.results).exists()]
    if not waiting:
        return
    dataset = bench.load(waiting[0].dataset)
    cells = {(row.ways, row.shots): row for row in waiting}
    episodes = {cell: draw_episodes(dataset, row) for cell, row in cells.items()}  # the same for every method
    with Crew(bench, waiting[0].dataset) as crew:
        for row in waiting:
            with progress(f"{row.method}, {row.ways}-way {row.shots}-shot", row.tasks) as report:
                run_row(crew, row, episodes[row.ways, row.shots], bench.results, report)


def run_row(crew: Crew, row: Row, episodes: Sequence[Episode], folder: Path, report: Report) -> RowResult:
    """Try a method on all tasks and keep the result."""
    start = time.monotonic()
    trials = crew.run(row, episodes, report)
    seconds = time.monotonic() - start
    result = result_of(trials, len(episodes), TABLE_RULES[row.rule].average, seconds)
    save_result(row.file(folder), row, result, code_that_runs())
    return result


def result_of(trials: Sequence[Trial], tasks: int, rule: Callable[[Matches], float], seconds: float) -> RowResult:
    """The numbers of a row, over all classes and for each."""
    once = np.ones(tasks, dtype=np.int64)
    by_class: dict[str, dict[str, float | None]] = {}
    classes = matches_by_class(trials, tasks)
    for label, found in classes.items():
        hits = [hit for trial in trials if trial.label == label for hit in query_hits(trial.query)]
        precision = rule(found.drawn(once))
        shown = None if isnan(precision) else precision
        by_class[label] = {QUERY: float(np.mean(hits)) if hits else None, "AP": shown, "queries": len(hits)}
    over_classes = precision_of(classes, tasks, rule)
    return RowResult(
        measure(trials, tasks, over_classes),
        by_class,
        tuple(trial.label for trial in trials),
        tuple(trial.task for trial in trials),
        tuple(trial.query for trial in trials),
        tuple(trial.support for trial in trials),
        tuple(over_classes.without.tolist()),
        round(seconds, 1),
    )


def code_that_runs(package: Path = PACKAGE) -> dict[str, str]:
    """The commit of the code, if it runs from this project's own repository; else the version that is installed."""
    commit = _commit(package)
    if commit:
        return {"commit": commit}
    try:
        return {"version": metadata.version(PROJECT)}
    except metadata.PackageNotFoundError:
        return {"version": "unknown"}


def _commit(package: Path) -> str:
    """Empty if no repository keeps the package, or one of another project does, that has it among its files."""
    if not _git(package, "ls-files", "__init__.py"):
        return ""
    try:
        described = tomllib.loads((Path(_git(package, "rev-parse", "--show-toplevel")) / "pyproject.toml").read_text())
    except (OSError, ValueError):
        return ""
    ours = described.get("project", {}).get("name") == PROJECT
    return _git(package, "rev-parse", "--short=12", "HEAD") if ours else ""


def _git(folder: Path, *asked: str) -> str:
    """What git says, without the end of the line; nothing if there is no git, or no repository."""
    try:
        found = subprocess.run(["git", "-C", str(folder), *asked], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Workers are born with one thread for matrix products: they would only get in each other's way."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


_KEPT: dict[str, Any] = {}
"""Of a worker process: what it was prepared with."""


def end_with_parent() -> None:
    """Let a worker process end when the one that started it is gone, however that ended: nobody waits for it then."""

    def wait() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def _prepare(bench: Workbench, dataset: str, workers: int) -> None:
    end_with_parent()
    _KEPT["pool"] = bench.pool(dataset, workers)
    _KEPT["knowledge"] = bench.knowledge()


def _work(row: Row, episodes: Sequence[Episode]) -> list[Trial]:
    learner = LINEUP[row.method].build(_KEPT["knowledge"], dict(row.chosen))
    matcher = TABLE_RULES[row.rule].matcher
    return [trial for episode in episodes for trial in try_method(learner, episode, _KEPT["pool"], matcher)]
