"""Runs all benchmarks that need no torch, and writes docs/performance.md with what they found on this machine.

    PYTHONPATH=tests python benchmarks/report.py --store STORE --truth TRUTH --learn STORE --before SRC [-o docs]

STORE and TRUTH are those of mi_svm.py, the others those of learning.py. It takes some minutes; leave the machine alone.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

import average_precision
import cosine_head
import em
import growth
import learning
import mi_svm
from measuring import READ_BYTES, Finding, reading, take_turns
from tag2box.rows import KINDS, compiled

INTRODUCTION = """# Performance

Speed is a ratio here: two ways to the same answer take turns on one machine, and the medians are compared. Seconds
would say more about the machine than about the code. `benchmarks/` has one file for each claim; every one compares the
answers first. This page was written by

```
PYTHONPATH=tests python benchmarks/report.py --store STORE --truth TRUTH --learn STORE --before SRC
```
"""
REASONS = """
## What the figures say

- **EM reads half-precision rows where they lie.** A lens (method, section 4) carries the direction to the rows, so that
  nothing is centred or whitened in memory, and one look at a photo gives scores, softmax and weighted sum. Rows are
  widened in registers: half the bytes of float32, no copy.
- **Where features fit into the cache, the gain is small.** BLAS multiplies float32 rows from the cache about as fast as
  half-precision rows can be widened. Where they do not fit, memory decides, and half the bytes are half the time.
- **Learning a class** is mostly one product of matrices for each photo (whitening it) and, where all photos show one
  scene, one more (comparing it with the others). Both are kept for as long as the photo is.
- **MI-SVM** is given the same rows, read by the same code, and each hard region once. Its dual is solved by the
  coordinate that violates its condition most.
- **Average precision** ranks all images at once and matches only what overlaps.
"""


def machine() -> str:
    """What was measured on."""
    library = compiled()
    limit = READ_BYTES / take_turns({"reading": reading()}, 5)["reading"].wall
    kind = "numpy alone" if library is None else f"compiled for {KINDS[library.kind]}"
    words = f"{os.cpu_count()} cores, {platform.machine()}, products {kind}, numpy {np.__version__}"
    return f"Machine: {words}; one thread reads {limit / 1e9:.1f} GB/s from memory.\n"


def table(findings: Iterable[Finding]) -> Iterator[str]:
    """One line for each, printed as it is found."""
    yield "| claim | times as fast | CPU time, ratio | seconds, ours and other | remark |"
    yield "|---|---|---|---|---|"
    for one in findings:
        print(one, flush=True)
        cpu = one.other.cpu / max(one.ours.cpu, 1e-9)
        seconds = f"{one.ours.wall:.2g} / {one.other.wall:.2g}"
        yield f"| {one.claim} | **{one.ratio:.1f}** | {cpu:.1f} | {seconds} | {one.remark} |"


def growing(runs: int, picture: Path) -> Iterator[str]:
    """The picture, and its numbers."""
    found = dict(growth.curves(runs))
    growth.draw(found, picture)
    yield "## How cost grows\n"
    yield f"![Cost against size, in proportion from some size on](images/{picture.name})\n"
    yield "| what grows | milliseconds |"
    yield "|---|---|"
    for axis, seconds in found.items():
        sizes = " · ".join(f"{size:,}: {1e3 * s:.2g}" for size, s in zip(growth.SIZES[axis], seconds, strict=True))
        yield f"| {axis} | {sizes} |"


def main() -> None:
    """Measure everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--learn", type=Path, required=True, nargs="+")
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs"))
    given = parser.parse_args()

    def findings() -> Iterator[Finding]:
        yield from em.findings(given.runs)
        for store in given.learn:
            yield from learning.findings(min(given.runs, 5), store, given.before)
        yield from mi_svm.findings(given.runs, given.store, given.truth, "person", 650, 1950)
        yield from cosine_head.findings(min(given.runs, 5))
        yield from average_precision.findings(given.runs)

    lines = [INTRODUCTION, machine(), *table(findings()), REASONS]
    lines += growing(min(given.runs, 5), given.output / "images" / "growth.svg")
    (given.output / "performance.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
