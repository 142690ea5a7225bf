"""How sure a number is: the paper's interval, bootstraps over tasks, and leaving groups of tasks out.

Leaving out is for average precision. A bootstrap draws some tasks twice. Their detections then stand twice at the same
rank, which flatters a ranking: the interval would lie above the value. Leaving out repeats nothing.

n = images, g = tasks, b = resamples, h = groups
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, require_finite, require_number
from tag2box.errors import ShapeError

FEWEST_GROUPS = 10
NODES = 200
HALVINGS = 100
FAR = 12.0
"""Standard deviations beyond which a distribution close to the normal has nothing left."""

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
    return _percentiles(statistic(np.arange(tasks)), values, tasks, level)


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


def unpaired_difference(
    first: Statistic, second: Statistic, tasks: int, rng: np.random.Generator, *, resamples: int = 2000
) -> Interval:
    """Bootstrap of first minus second, each computed from resampled tasks of its own, as many for both."""
    require_number("tasks", tasks, at_least=1)
    require_number("resamples", resamples, at_least=1)
    ours, theirs = rng.integers(0, tasks, size=(2, resamples, tasks))  # (b, g) each
    gaps: Array = np.array([first(one) - second(other) for one, other in zip(ours, theirs, strict=True)])  # (b,)
    everything = np.arange(tasks)  # (g,)
    return _percentiles(first(everything) - second(everything), gaps, 2 * tasks)


def without_each_group(statistic: Statistic, tasks: int) -> Array:
    """(h,), the statistic without each group in turn; task i belongs to group i modulo h.

    As many groups as tasks in each, so that a rank statistic is moved by what is left out; but ten at least.
    """
    require_number("tasks", tasks, at_least=2)
    groups = min(tasks, max(FEWEST_GROUPS, round(tasks**0.5)))
    places = np.arange(tasks)  # (g,)
    return np.array([statistic(places[places % groups != group]) for group in range(groups)])


def jackknife_interval(value: float, without: Array, tasks: int, level: float = 0.95) -> Interval:
    """The value of all tasks with its interval (11.5); for two methods on the same tasks, give their differences."""
    groups = len(without)
    if groups < 2:
        return Interval(value, float("nan"), float("nan"), tasks)
    half = student_t_quantile(0.5 + level / 2, groups - 1) * math.sqrt(_variance(without))
    return Interval(value, value - half, value + half, tasks)


def unpaired_jackknife(gap: float, first: Array, second: Array, tasks: int, level: float = 0.95) -> Interval:
    """The difference of two values with Welch's interval (11.6), from what each is without groups of its own tasks."""
    if min(len(first), len(second)) < 2:
        return Interval(gap, float("nan"), float("nan"), 2 * tasks)
    ours, theirs = _variance(first), _variance(second)
    if ours + theirs == 0.0:
        return Interval(gap, gap, gap, 2 * tasks)
    degrees = (ours + theirs) ** 2 / (ours**2 / (len(first) - 1) + theirs**2 / (len(second) - 1))
    half = student_t_quantile(0.5 + level / 2, degrees) * math.sqrt(ours + theirs)
    return Interval(gap, gap - half, gap + half, 2 * tasks)


def student_t_quantile(probability: float, degrees: float) -> float:
    """The value that a t-distributed number stays below with ``probability`` (0.5 to 1, exclusive).

    With t = sqrt(degrees) tan(angle) the density becomes cos(angle)^(degrees - 1), which Gauss-Legendre integrates; the
    angle is then found by halving: for this alone, a library of 140 megabytes would be too much.
    """
    require_number("degrees of freedom", degrees, above=0.0)
    if not 0.5 <= probability < 1.0:
        raise ShapeError(f"the probability is {probability}.", "a value from 0.5 to below 1", "use the symmetry of t.")
    reach = min(math.pi / 2, FAR / math.sqrt(degrees))
    wanted = (2.0 * probability - 1.0) * _area(reach, degrees)
    low, high = 0.0, reach
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _area(middle, degrees) < wanted else (low, middle)
    return math.sqrt(degrees) * math.tan(0.5 * (low + high))


def _percentiles(value: float, resampled: Array, tasks: int, level: float = 0.95) -> Interval:
    low, high = np.quantile(resampled, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(value, float(low), float(high), tasks)


def _variance(without: Array) -> float:
    """Of a value, from what it is without each group."""
    groups = len(without)
    return float((groups - 1) / groups * np.sum((without - np.mean(without)) ** 2))


def _area(angle: float, degrees: float) -> float:
    """Integral of cos^(degrees - 1) from 0 to ``angle``."""
    nodes, weights = _gauss_legendre()
    return 0.5 * angle * float(weights @ np.cos(0.5 * angle * (1.0 + nodes)) ** (degrees - 1.0))


@cache
def _gauss_legendre() -> tuple[Array, Array]:
    """Nodes and weights on the interval from -1 to 1."""
    return np.polynomial.legendre.leggauss(NODES)
