"""Common object localization: K images share a class; find it in each, and in one more image.

g = tasks
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import final

import numpy as np

from tag2box.arrays import Array, Ints
from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, EpisodePool, EpisodeSampler, classes_uniformly
from tag2box.evaluation import Interval, is_correct, task_bootstrap
from tag2box.methods.localizers import VmfMil, center_bag, given
from tag2box.store import FeatureStore
from tag2box.types import Episode, ProposalBag, Truth

RESAMPLES = 500


@final
@dataclass(frozen=True, eq=False)
class Task:
    """One episode with its bags and truths."""

    label: str
    support: tuple[ProposalBag, ...]
    support_truths: tuple[Truth, ...]
    query: ProposalBag
    query_truth: Truth


@final
@dataclass(frozen=True)
class Hits:
    """What a method found in one task."""

    label: str
    support: tuple[bool, ...]
    query: bool


Method = Callable[[Task], tuple[Sequence[int], int]]
"""Chooses a row in each support image and in the query image."""


def draw_tasks(dataset: Dataset, shots: int, count: int, seed: int) -> list[Episode]:
    """Episodes of one class, every class with the same chance; classes with too few images are left out."""
    tags = {image.image_id: image.tags for image in dataset.images if image.tags}
    images = {label: sum(label in labels for labels in tags.values()) for label in dataset.classes}
    pool = EpisodePool.build(tags, [label for label in dataset.classes if images[label] > shots])
    return EpisodeSampler(pool, 1, shots, seed, draw_classes=classes_uniformly).episodes(count)


def load_tasks(store: FeatureStore, dataset: Dataset, episodes: Sequence[Episode]) -> list[Task]:
    """The bags and truths of the episodes; an image that several share is read once."""
    truths = {image.image_id: image.truth for image in dataset.images}
    bags = cache(store.bag)
    tasks = []
    for episode in episodes:
        label, query = episode.classes[0], episode.queries[0]
        support = episode.positives(label)
        known = tuple(truths[image] for image in support)
        tasks.append(Task(label, tuple(map(bags, support)), known, bags(query), truths[query]))
    return tasks


def judge(task: Task, method: Method) -> Hits:
    """Whether the boxes that a method chooses are right."""
    rows, query_row = method(task)
    support = tuple(
        is_correct(bag.boxes[row], truth, task.label)
        for bag, truth, row in zip(task.support, task.support_truths, rows, strict=True)
    )
    return Hits(task.label, support, is_correct(task.query.boxes[query_row], task.query_truth, task.label))


def em(localizer: VmfMil, task: Task) -> tuple[Sequence[int], int]:
    """vMF-MIL."""
    solution = localizer.solve(task.support, np.random.default_rng(0))
    return solution.localization.rows.tolist(), int(solution.score(task.query).argmax())


def oracle(localizer: VmfMil, task: Task) -> tuple[Sequence[int], int]:
    """The direction of the best region of each support image, with the scoring of vMF-MIL: what features allow."""
    best = []
    for bag, truth in zip(task.support, task.support_truths, strict=True):
        overlaps = box_overlaps(bag.boxes, truth.of_class(task.label).boxes).max(axis=1)
        best.append(center_bag(bag, localizer.center).features[overlaps.argmax()].astype(np.float64))
    return em(_at(localizer, np.mean(best, axis=0)), task)


def whole_image(task: Task) -> tuple[Sequence[int], int]:
    """The floor: the whole image is the answer."""
    return [0] * len(task.support), 0


def top_objectness(task: Task) -> tuple[Sequence[int], int]:
    """The region that the detector believes in most, whatever the class."""
    return [int(bag.objectness.argmax()) for bag in task.support], int(task.query.objectness.argmax())


def query_corloc(hits: Sequence[Hits], seed: int = 0) -> Interval:
    """Macro CorLoc of the query images with a bootstrap over tasks."""
    return _macro([(hit.query,) for hit in hits], [hit.label for hit in hits], seed)


def support_corloc(hits: Sequence[Hits], seed: int = 0) -> Interval:
    """Macro CorLoc of the support images with a bootstrap over tasks."""
    return _macro([hit.support for hit in hits], [hit.label for hit in hits], seed)


def outcomes(tasks: Sequence[Task], localizer: VmfMil) -> dict[str, tuple[Interval, Interval]]:
    """Macro CorLoc of support and query images, by method."""
    found = {name: [judge(task, method) for task in tasks] for name, method in methods(localizer).items()}
    return {name: (support_corloc(hits), query_corloc(hits)) for name, hits in found.items()}


def methods(localizer: VmfMil) -> dict[str, Method]:
    """vMF-MIL, its start without EM, its oracle, and two floors."""
    return {
        "vMF-MIL": partial(em, localizer),
        "start without EM": partial(em, _stopped(localizer)),
        "oracle direction": partial(oracle, localizer),
        "top objectness": top_objectness,
        "whole image": whole_image,
    }


def _stopped(localizer: VmfMil) -> VmfMil:
    return replace(localizer, max_steps=0)


def _at(localizer: VmfMil, direction: Array) -> VmfMil:
    return replace(localizer, start=given(direction), max_steps=0)


def _macro(outcomes: Sequence[Sequence[bool]], labels: Sequence[str], seed: int) -> Interval:
    """Mean over classes of the share of right images; a task's images stay together in the bootstrap."""
    names, places = np.unique(labels, return_inverse=True)
    right = np.array([sum(task) for task in outcomes], dtype=np.float64)  # (g,)
    images = np.array([len(task) for task in outcomes], dtype=np.float64)  # (g,)

    def macro(tasks: Ints) -> float:
        hits = np.bincount(places[tasks], right[tasks], len(names))
        counts = np.bincount(places[tasks], images[tasks], len(names))
        return float(np.mean(hits[counts > 0] / counts[counts > 0]))

    return task_bootstrap(macro, len(outcomes), np.random.default_rng(seed), resamples=RESAMPLES)
