"""How sure average precision is: intervals from leaving out groups of tasks, each in turn.

A bootstrap draws some tasks twice. Their detections then stand twice at the same rank, which flatters a ranking: the
interval would lie above the value. Leaving out repeats nothing.

g = tasks, h = groups
"""

from __future__ import annotations

import numpy as np

from tag2box.arrays import Array, require_number
from tag2box.evaluation.intervals import Interval, Statistic
from tag2box.evaluation.student_t import student_t_quantile

FEWEST_GROUPS = 10


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
    deviation = float(np.sqrt((groups - 1) / groups * np.sum((without - np.mean(without)) ** 2)))
    half = student_t_quantile(0.5 + level / 2, groups - 1) * deviation
    return Interval(value, value - half, value + half, tasks)
