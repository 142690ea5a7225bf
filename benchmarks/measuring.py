"""What all benchmarks share: ways that take turns, medians of wall and CPU time, and how fast this machine reads."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

READ_BYTES = 256 * 2**20
"""Far more than any cache."""


class Cost(NamedTuple):
    """Medians over runs."""

    wall: float
    """Seconds"""
    cpu: float
    """Seconds, of all cores together"""


@final
@dataclass(frozen=True)
class Finding:
    """One line of the report: how one way compares with another that gives the same answer."""

    claim: str
    ratio: float
    """Time of the other way over ours"""
    ours: Cost
    other: Cost
    remark: str = ""

    def __str__(self) -> str:
        return f"{self.claim}: {self.ratio:.1f} times as fast{f' ({self.remark})' if self.remark else ''}"


def take_turns(ways: Mapping[str, Callable[[], object]], runs: int) -> dict[str, Cost]:
    """Every way once unmeasured, then all of them in turn, so that a busy moment of the machine hits all alike."""
    for work in ways.values():
        work()
    taken: dict[str, list[Cost]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, work in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            taken[name].append(Cost(time.perf_counter() - wall, time.process_time() - cpu))
    return {name: Cost(*map(statistics.median, zip(*costs, strict=True))) for name, costs in taken.items()}


Work = Callable[[], object]


def compare(claim: str, ours: Work, other: Work, runs: int, remark: str = "") -> Finding:
    """How much faster ours is."""
    costs = take_turns({"ours": ours, "other": other}, runs)
    return Finding(claim, costs["other"].wall / costs["ours"].wall, costs["ours"], costs["other"], remark)


def reading() -> Callable[[], object]:
    """Reads ``READ_BYTES`` once, with one thread, and does as little with them as possible."""
    memory = np.ones(READ_BYTES // 8, dtype=np.int64)
    return lambda: np.bitwise_or.reduce(memory)
