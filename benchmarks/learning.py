"""Learning classes of ten photos from a store, against an older version of tag2box.

    git worktree add ../before VERSION
    python benchmarks/learning.py STORE --before ../before/src

Each version learns the same classes (ten photos each, 24 without it) in a process of its own, in turn. The boxes are
compared first.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tag2box
from measuring import Cost, Finding

CLASSES, PHOTOS, WITHOUT = 8, 10, 24
NEAR = 0.5
"""Pixels by which boxes may differ."""
LEARN = """
import json, sys, time
from pathlib import Path
from tag2box.model import Model
from tag2box.product.learning import Lesson, learn_class
from tag2box.store import FeatureStore
store, model = FeatureStore(Path(sys.argv[1])), Model.open(None)
classes, photos, without = map(int, sys.argv[2:])
names, boxes = store.image_ids, []
model.learner
learn_class(Lesson("warm", names[:photos], names[-2:], {}), FeatureStore(Path(sys.argv[1])), model)
wall, cpu = time.perf_counter(), time.process_time()
for number in range(classes):
    own = names[number * photos : (number + 1) * photos]
    others = [name for name in names if name not in own]
    some = tuple(others[:: max(1, len(others) // without)][:without])
    boxes += [box.box for box in learn_class(Lesson("thing", own, some, {}), store, model).boxes]
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu, boxes]))
"""


def learn(source: Path, store: Path) -> tuple[Cost, list[list[float]]]:
    """What a version takes, and the boxes that it finds."""
    command = [sys.executable, "-c", LEARN, str(store), str(CLASSES), str(PHOTOS), str(WITHOUT)]
    done = subprocess.run(command, env={"PYTHONPATH": str(source)}, capture_output=True, text=True, check=True)
    wall, cpu, boxes = json.loads(done.stdout)
    return Cost(wall, cpu), boxes


def findings(runs: int, store: Path, before: Path) -> Iterator[Finding]:
    """Compare boxes, then times."""
    now = Path(tag2box.__file__).parents[1]
    (_, ours), (_, others) = learn(now, store), learn(before, store)
    same = float((np.abs(np.array(ours) - np.array(others)).max(axis=1) <= NEAR).mean())
    turns = [(learn(now, store)[0], learn(before, store)[0]) for _ in range(runs)]
    mine, theirs = (Cost(*map(statistics.median, zip(*costs, strict=True))) for costs in zip(*turns, strict=True))
    claim = f"learning {CLASSES} classes of {PHOTOS} photos from a store ({store.name}) against the version before"
    yield Finding(claim, theirs.wall / mine.wall, mine, theirs, f"{100 * same:.0f} % of the boxes are the same")


def main() -> None:
    """Print what is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    for found in findings(given.runs, given.store, given.before):
        print(found, flush=True)


if __name__ == "__main__":
    main()
