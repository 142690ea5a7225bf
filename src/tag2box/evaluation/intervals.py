"""How sure a number is: the paper's interval, and bootstraps over tasks.

n = images, g = tasks, b = resamples
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, require_finite, require_number
from tag2box.evaluation.student_t import student_t_quantile

Statistic = Callable[[npt.NDArray[np.int64]], float]
"""A number computed from the tasks at these places, repeats included."""


@final
@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval and the number of trials behind it."""

    value: float
    low: float
    high: float
    trials: int


def t_interval(outcomes: npt.ArrayLike, level: float = 0.95) -> Interval:
    """The paper's interval, (11.4): it takes all n images for independent, also those of one task."""
    values = np.asarray(outcomes, dtype=np.float64)
    require_finite("outcomes", values)
    n, mean = len(values), float(np.mean(values)) if len(values) else float("nan")
    if n < 2:
        return Interval(mean, float("nan"), float("nan"), n)
    half = student_t_quantile(0.5 + level / 2, n - 1) * float(np.std(values, ddof=1) / np.sqrt(n))
    return Interval(mean, mean - half, mean + half, n)


def task_bootstrap(
    statistic: Statistic, tasks: int, rng: np.random.Generator, *, resamples: int = 2000, level: float = 0.95
) -> Interval:
    """Percentile interval of ``statistic`` over resampled tasks: images of one task stay together."""
    require_number("tasks", tasks, at_least=1)
    require_number("resamples", resamples, at_least=1)
    drawn = rng.integers(0, tasks, size=(resamples, tasks))  # (b, g)
    values: Array = np.array([statistic(places) for places in drawn])  # (b,)
    low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(statistic(np.arange(tasks)), float(low), float(high), tasks)


def mean_over_tasks(outcomes: Sequence[npt.ArrayLike]) -> Statistic:
    """The mean over all images of all drawn tasks: class-agnostic CorLoc when outcomes are hits."""
    sums: Array = np.array([np.sum(np.asarray(task, dtype=np.float64)) for task in outcomes])  # (g,)
    counts: Array = np.array([np.size(task) for task in outcomes], dtype=np.float64)  # (g,)
    return lambda places: float(sums[places].sum() / counts[places].sum())


def paired_difference(
    first: Statistic, second: Statistic, tasks: int, rng: np.random.Generator, *, resamples: int = 2000
) -> Interval:
    """Bootstrap of first minus second, both computed from the same resampled tasks: any two numbers can be paired."""
    return task_bootstrap(lambda places: first(places) - second(places), tasks, rng, resamples=resamples)
