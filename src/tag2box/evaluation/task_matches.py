"""Average precision over tasks, and over tasks drawn again: what its interval is made of.

n = detections of all tasks, g = tasks
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from tag2box.arrays import Bools, Ints
from tag2box.evaluation.intervals import Statistic
from tag2box.evaluation.matching import Matches, pool_matches


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
