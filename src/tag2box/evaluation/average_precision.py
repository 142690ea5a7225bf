"""Average precision of ranked detections: three rules, three names (docs/method.md, section 11).

Of a result set, class by class; and over tasks, also over tasks drawn again, which its interval is made of.

n = detections, g = tasks
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, Self, final

import numpy as np

from tag2box.arrays import Array, Bools, Ints
from tag2box.evaluation.intervals import Statistic
from tag2box.evaluation.matching import (
    MIN_OVERLAP,
    Matcher,
    Matches,
    Pair,
    match_coco,
    match_voc,
    pool_matches,
    rank_classes,
)

TINY = float(np.spacing(1.0))
"""COCO's guard against a precision of 0/0."""


def precision_recall(matches: Matches) -> tuple[Array, Array]:
    """Precision and recall after each detection that is not ignored."""
    hits = matches.hits[~matches.ignored]
    right = np.cumsum(hits)
    return right / np.arange(1, len(hits) + 1), right / max(matches.truths, 1)


def ap_11_points(matches: Matches) -> float:
    """PASCAL 2007: mean of the best precision at recalls 0, 0.1, ..., 1. Without objects, NaN."""
    if matches.truths == 0:
        return float("nan")
    precision, recall = precision_recall(matches)
    best = [precision[recall >= level].max(initial=0.0) for level in np.arange(11) / 10]
    return float(np.mean(best))


def ap_area(matches: Matches) -> float:
    """PASCAL 2010 and later: area under the monotone precision-recall curve. Without objects, NaN."""
    if matches.truths == 0:
        return float("nan")
    precision, recall = precision_recall(matches)
    return float(np.sum(_best_ahead(precision) * np.diff(recall, prepend=0.0)))


def ap_101_points(matches: Matches) -> float:
    """COCO: mean of the best precision at recalls 0, 0.01, ..., 1. Without objects, NaN."""
    if matches.truths == 0:
        return float("nan")
    hits = matches.hits[~matches.ignored]
    right = np.cumsum(hits).astype(np.float64)
    precision = right / (np.arange(1, len(hits) + 1) + TINY)
    places = np.searchsorted(right / matches.truths, np.linspace(0.0, 1.0, 101), side="left")  # (101,)
    reached = places < len(hits)
    return float(np.where(reached, np.append(_best_ahead(precision), 0.0)[places], 0.0).mean())


class Rule(NamedTuple):
    """How detections are matched, and how their precision is averaged."""

    matcher: Matcher
    average: Callable[[Matches], float]


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "voc_11_points": Rule(match_voc, ap_11_points),
        "voc_area": Rule(match_voc, ap_area),
        "coco_101_points": Rule(match_coco, ap_101_points),
    }
)
"""The rules of the field, by name."""


def average_precisions(
    pairs: Sequence[Pair],
    classes: Iterable[str],
    matcher: Matcher,
    rule: Callable[[Matches], float],
    min_overlap: float = MIN_OVERLAP,
) -> dict[str, float]:
    """Average precision of each class, such as ``average_precisions(pairs, classes, match_voc, ap_area)``."""
    return {label: rule(matcher(ranking, min_overlap)) for label, ranking in rank_classes(pairs, classes).items()}


@final
@dataclass(frozen=True, eq=False)
class TaskMatches:
    """The verdicts on one class, ranked over all tasks, and which task each came from."""

    pooled: Matches
    tasks: Ints
    """(n,), the task of each detection"""
    truths: Ints
    """(g,), objects to be found in each task"""

    @classmethod
    def pool(cls, by_task: Mapping[int, Matches], count: int) -> Self:
        """Pool the tasks that ask for the class, out of ``count`` tasks."""
        owners = np.repeat(list(by_task), [len(matches.scores) for matches in by_task.values()]).astype(np.int64)
        scores = np.concatenate([matches.scores for matches in by_task.values()])
        truths = np.zeros(count, dtype=np.int64)
        truths[list(by_task)] = [matches.truths for matches in by_task.values()]
        order = np.argsort(-scores, kind="stable")  # as pool_matches ranks them
        return cls(pool_matches(by_task.values()), owners[order], truths)

    def drawn(self, times: Ints) -> Matches:
        """The verdicts if task i had come up ``times[i]`` times (g,)."""
        rows = np.repeat(np.arange(len(self.tasks)), times[self.tasks])
        pooled = self.pooled
        return Matches(pooled.scores[rows], pooled.hits[rows], pooled.ignored[rows], int(times @ self.truths))


def mean_average_precision(classes: Sequence[TaskMatches], rule: Callable[[Matches], float], count: int) -> Statistic:
    """The mean over classes of the average precision in drawn tasks; classes that no drawn task has are left out."""

    def statistic(places: Ints) -> float:
        times = np.bincount(places, minlength=count)  # (g,)
        values: list[float] = [rule(found.drawn(times)) for found in classes]
        known: Bools = ~np.isnan(values)
        return float(np.mean(np.array(values)[known])) if known.any() else float("nan")

    return statistic


def _best_ahead(precision: Array) -> Array:
    """Best precision at this recall or any higher one."""
    return np.maximum.accumulate(precision[::-1])[::-1]
