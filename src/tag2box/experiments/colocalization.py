"""Common object localization as a measure of an extractor: how far features and scoring reach, from floor to oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from tag2box.arrays import Array
from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, EpisodeSampler, classes_uniformly, pool_of
from tag2box.evaluation import Interval, match_voc, task_bootstrap
from tag2box.experiments.bench.figures_of_merit import RESAMPLES, macro_corloc, query_hits
from tag2box.experiments.bench.tasks import Pool, Trial, try_method
from tag2box.methods.floors import Floor, objectness, whole_image
from tag2box.methods.learners import ObjectLearner
from tag2box.methods.localizers import SceneMil, given
from tag2box.progress import Report
from tag2box.types import Episode

METHODS = 5
"""That are compared."""

LearnerFor = Callable[[Episode], ObjectLearner]
"""All but the oracle are the same for every task."""


def draw_tasks(dataset: Dataset, shots: int, count: int, seed: int) -> list[Episode]:
    """Episodes of one class, every class with the same chance; classes with too few images are left out."""
    return EpisodeSampler(pool_of(dataset, shots + 1), 1, shots, seed, draw_classes=classes_uniformly).episodes(count)


def outcomes(
    pool: Pool, episodes: Sequence[Episode], localizer: SceneMil, report: Report
) -> dict[str, tuple[Interval, Interval]]:
    """Macro CorLoc of support and query images, by method; ``report`` hears of every task of every method."""
    found = {}
    done = count(1)
    for name, learner_for in methods(pool, localizer).items():
        trials = []
        for episode in episodes:
            trials += try_method(learner_for(episode), episode, pool, match_voc)
            report(next(done), {})
        support = _corloc(trials, [trial.support for trial in trials])
        found[name] = support, _corloc(trials, [query_hits(trial.query) for trial in trials])
    return found


def methods(pool: Pool, localizer: SceneMil) -> Mapping[str, LearnerFor]:
    """vMF-MIL, its start without EM, its oracle, and two floors."""
    return {
        "vMF-MIL": lambda episode: localizer,
        "start without EM": lambda episode: replace(localizer, vmf=replace(localizer.vmf, max_steps=0)),
        "oracle direction": lambda episode: at_best_regions(localizer, episode, pool),
        "top objectness": lambda episode: Floor(objectness),
        "whole image": lambda episode: Floor(whole_image),
    }


def at_best_regions(localizer: SceneMil, episode: Episode, pool: Pool) -> SceneMil:
    """The scoring of vMF-MIL with the direction of the best region of each support image: what features allow."""
    label = episode.classes[0]
    best: list[Array] = []
    for image in episode.positives(label):
        bag = pool.bag(image)
        overlaps = box_overlaps(bag.boxes, pool.truths[image].of_class(label).boxes).max(axis=1)
        best.append(localizer.vmf.seen(bag).directions.at([int(overlaps.argmax())])[0].astype(np.float64))
    return replace(localizer, vmf=replace(localizer.vmf, start=given(np.mean(best, axis=0)), max_steps=0))


def _corloc(trials: Sequence[Trial], hits: Sequence[Sequence[bool]]) -> Interval:
    tasks = [trial.task for trial in trials]
    statistic = macro_corloc([trial.label for trial in trials], tasks, hits, len(tasks))
    return task_bootstrap(statistic, len(tasks), np.random.default_rng(0), resamples=RESAMPLES)
