"""EM on half-precision rows, against a plain numpy loop over photos in single precision.

    python benchmarks/em.py [--runs N]

The answers are compared first. All but one comparison is on one core. The plain loop is given its features as float32
in memory, twice the bytes. Regions, dimension and steps are those of the paper's tasks.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from measuring import READ_BYTES, Finding, compare, reading, take_turns
from tag2box.arrays import Array
from tag2box.methods.localizers import BagStack, VmfForeground, run_em, stack_views
from tag2box.methods.view import View
from tag2box.rows import Directions, Rows

REGIONS, DIMENSION, STEPS, KAPPA = 301, 512, 10, 24.0
PHOTOS = (5, 10, 100, 650)
SAME = 1e-4
TASKS = 8
"""Few-shot tasks that two threads share."""


def plant(photos: int, regions: int = REGIONS, dimension: int = DIMENSION, seed: int = 0) -> tuple[list[Rows], Array]:
    """Photos with one region each of a common direction, in half precision, and that direction."""
    rng = np.random.default_rng(seed)
    thing = rng.standard_normal(dimension)
    thing /= np.linalg.norm(thing)
    rows = []
    for _ in range(photos):
        one = rng.standard_normal((regions, dimension), dtype=np.float32)
        one /= np.linalg.norm(one, axis=1, keepdims=True)
        one[1] = 0.7 * thing + 0.7 * one[1]
        rows.append((one / np.linalg.norm(one, axis=1, keepdims=True)).astype(np.float16))
    return rows, thing


def stack_of(rows: list[Rows]) -> BagStack:
    """What EM looks at."""
    lengths = [np.linalg.norm(some.astype(np.float64), axis=1) for some in rows]
    seen = [Directions.of(some, some.shape[1], length) for some, length in zip(rows, lengths, strict=True)]
    nothing = [np.zeros(len(some)) for some in rows]
    return stack_views([View(*each) for each in zip(seen, nothing, strict=True)], nothing)


def plain_loop(rows: list[Rows], theta: Rows) -> Rows:
    """Algorithm 1 as one would write it down."""
    for _ in range(STEPS + 1):
        total = np.zeros_like(theta)
        for some in rows:
            logits = np.float32(KAPPA) * (some @ theta)
            weights = np.exp(logits - logits.max())
            total += (weights / weights.sum()) @ some
        before, theta = theta, total / np.linalg.norm(total)
    return before


@final
@dataclass(frozen=True, eq=False)
class Task:
    """Photos for both ways, and where both start."""

    halves: list[Rows]
    singles: list[Rows]
    stack: BagStack
    start: Array

    @classmethod
    def plant(cls, photos: int, regions: int = REGIONS, dimension: int = DIMENSION) -> Self:
        """A task on which both ways give the same answer."""
        halves, thing = plant(photos, regions, dimension)
        start = np.mean([some[0] + 0.5 * thing for some in halves], axis=0)
        singles = [some.astype(np.float32) for some in halves]
        task = cls(halves, singles, stack_of(halves), start / np.linalg.norm(start))
        apart = float(np.abs(task.ours() - task.plain()).max())
        if apart > SAME:
            raise SystemExit(f"{photos} photos: the answers differ by {apart:.2g}")
        return task

    def ours(self) -> Array:
        """As the package does it."""
        return run_em(self.stack, VmfForeground(self.start, KAPPA), max_steps=STEPS, tol=-1.0).last.foreground.theta

    def plain(self) -> Rows:
        """As one would write it down."""
        return plain_loop(self.singles, self.start.astype(np.float32))


def findings(runs: int) -> Iterator[Finding]:
    """Compare answers, then times, for several numbers of photos."""
    cores = os.sched_getaffinity(0)
    yield two_threads(Task.plant(min(PHOTOS)), runs)
    os.sched_setaffinity(0, {min(cores)})
    for photos in PHOTOS:
        task, few = Task.plant(photos), max(3, runs // photos * 5)
        found = compare(f"EM of {photos} photos against a plain numpy loop, one core", task.ours, task.plain, few)
        yield found if photos < max(PHOTOS) else with_read_limit(found, task.halves, few)
    os.sched_setaffinity(0, cores)


def two_threads(task: Task, runs: int) -> Finding:
    """Several few-shot tasks, two at a time, against one plain loop after the other."""
    with ThreadPoolExecutor(2) as pool:
        return compare(
            f"EM of {TASKS} tasks of {len(task.halves)} photos, two threads over tasks",
            lambda: list(pool.map(lambda _: task.ours(), range(TASKS))),
            lambda: [task.plain() for _ in range(TASKS)],
            max(3, runs // 4),
        )


def with_read_limit(found: Finding, rows: list[Rows], runs: int) -> Finding:
    """The same finding with the share of what this machine can read in that time."""
    limit = READ_BYTES / take_turns({"reading": reading()}, runs)["reading"].wall
    rate = sum(some.nbytes for some in rows) * (STEPS + 1) / found.ours.wall
    remark = f"{rate / 1e9:.1f} GB/s, {100 * rate / limit:.0f} % of the {limit / 1e9:.1f} that one thread reads here"
    return Finding(found.claim, found.ratio, found.ours, found.other, remark)


def main() -> None:
    """Print what is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=25)
    for found in findings(parser.parse_args().runs):
        print(found, flush=True)


if __name__ == "__main__":
    main()
