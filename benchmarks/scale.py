"""What a million photos cost, and a hundred million: measured here for some, computed for many. Writes docs/scale.md.

    python benchmarks/scale.py STORE [--cores 64] [-o docs]

STORE is any feature store (tag2box extract) of some hundred photos with the model that ships. Everything that grows
with photos is measured on it, per photo; what many machines need is that times the number of photos, over their cores.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import final

import numpy as np

from tag2box.extract import find_photos
from tag2box.methods.localizers import VmfForeground, stack_views
from tag2box.methods.localizers.em import e_step
from tag2box.methods.view import View
from tag2box.model import Model
from tag2box.product.learning import Lesson, learn_class
from tag2box.store import FeatureStore

SIZES = (10_000, 1_000_000, 100_000_000)
SHARD_PHOTOS = 700
"""Photos of a full shard."""
GROUP = 1000
"""Shards whose statistics are added up before they go to the driver."""
STEPS = 20
LEARNED = 200
"""Photos of one class that learning is measured on."""
BOX_BYTES = 350
"""Of boxes.json, for a photo with one box."""
GIBI = 2.0**30


WORDS = """
## One EM step over {shards} shards

A shard says {numbers} numbers of a step: the weighted sum of its rows, two sums of coefficients, and its likelihood. A
driver that is sent all of them receives {received} and adds them up in {taken}. Added up in groups of {group} shards
where they are, in the shards' order, {fewer} are left, and {grouped}. The groups are fixed, so the sum has the same
bytes for any number of workers.

## Where it breaks first

1. **The list of photos.** Everything that holds one entry for each photo in one process: the open store, `photos.json`,
   `boxes.json`. A million photos fit; a hundred million need lists in shards, as the features are.
2. **Looking.** It takes {times} times what learning one class from all photos takes. Every core helps alike: photos
   know nothing of each other.
3. **The disk.** From the second step on EM reads features as fast as they come. On machines that do not keep their
   shards in memory, a step takes as long as reading them.

The report does not grow for ever: it shows the photos that need a look, not all.

## Looking and learning on several machines

`tag2box extract PHOTOS -o STORE --cluster ADDRESS` spreads looking over a Ray cluster (`pip install 'tag2box[cluster]'`
on every machine; `local` for the cores of one). Photos and store lie in a folder that all machines share. A task looks
at 64 photos and seals their shard; a machine that is lost costs the tasks it was at. `make cluster` tries it with three
machines on one: one removed without a word, a worker killed by a photo, a disk without room, the command started again.

`tag2box localize PHOTOS -o RUN --cluster ADDRESS` does that, and learns the classes there too: each class is a task,
which opens the store where it is, and is learned again elsewhere if its machine is lost, also in the middle of EM. The
boxes are the same bytes as from one process. A class is not cut into parts: a single one of a million photos is learned
on one machine.

## Training on several machines

`torchrun --nnodes N --nproc-per-node 1 … -m tag2box train …` trains one run with several processes: each takes its
share of every step's photos, gradients are averaged, the first process writes checkpoints, and all can be started again
from the last one. Two processes on one machine are tested.
"""


@final
@dataclass(frozen=True)
class Photo:
    """What one photo costs, in seconds of one core or bytes."""

    look: float
    """Extraction: decode, propose, describe"""
    view: float
    """Through the lens, once for each model"""
    step: float
    """One EM step"""
    learn: float
    """All that learning a class does with it: lens, backgrounds, EM, signs"""
    stored: float
    """Bytes on disk"""
    known: float
    """Bytes in memory for a photo that a store knows of"""
    opened: float
    """Seconds to read what the store says of it"""


def seconds(work: Callable[[], object]) -> float:
    """Of one run on one core."""
    before = time.process_time()
    work()
    return time.process_time() - before


def measure(folder: Path) -> Photo:
    """One photo's costs, by those of a store and of the demo's photos."""
    model = Model.open(None, threads=1)
    with as_file(files("tag2box") / "assets" / "demo" / "photos") as demo:
        photos = [file.path for file in find_photos([demo])]
        look = seconds(lambda: [model.extractor.extract(path, "photo") for path in photos])
    gc.collect()
    tracemalloc.start()
    opened = seconds(lambda: FeatureStore(folder))
    store = FeatureStore(folder)
    known = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    bags = [store.bag(name) for name in store.image_ids[:200]]
    view = seconds(lambda: [model.learner.localizer.seen(bag) for bag in bags])
    seen = [model.learner.localizer.seen(bag) for bag in bags]
    nothing = [np.zeros(len(bag)) for bag in bags]
    stack = stack_views([View(bag.directions, no) for bag, no in zip(seen, nothing, strict=True)], nothing)
    start = VmfForeground(np.eye(1, seen[0].dimension)[0], 24.0)
    e_step(stack, start)
    step = seconds(lambda: [e_step(stack, start) for _ in range(5)]) / 5
    names = store.image_ids[:LEARNED]
    learn = seconds(lambda: learn_class(Lesson("thing", names, (), {}), FeatureStore(folder), model))
    stored = sum(file.stat().st_size for file in folder.glob("shard-*"))
    count = len(store)
    return Photo(
        look / len(photos),
        view / len(bags),
        step / len(bags),
        learn / len(names),
        stored / count,
        known / count,
        opened / count,
    )


def statistics_of(shards: int, dimension: int) -> tuple[float, float]:
    """Seconds in which a driver adds up what so many shards say of one step, in their order; and the bytes of it."""
    one = np.random.default_rng(0).standard_normal(dimension + 3)

    def add() -> None:
        total = np.zeros_like(one)
        for _ in range(shards):
            total += one

    return seconds(add), shards * one.nbytes


def lines(photo: Photo, dimension: int, cores: int) -> Iterator[str]:
    """The page."""
    yield "# Scale\n"
    yield "What many photos cost, computed from what one costs. Measured and written by"
    yield f"`python benchmarks/scale.py STORE`; hours are of {cores} cores like the one that was measured.\n"
    yield "| one photo | |"
    yield "|---|---|"
    yield f"| look at it (decode, propose, describe) | {1e3 * photo.look:.0f} ms of a core |"
    yield f"| see it through the model's lens, once | {1e3 * photo.view:.1f} ms |"
    yield f"| one EM step | {1e6 * photo.step:.0f} µs |"
    yield f"| all of learning a class | {1e3 * photo.learn:.0f} ms |"
    yield f"| features on disk | {photo.stored / 1e3:.0f} kB |"
    yield f"| memory of whoever opens the store | {photo.known:.0f} bytes, {1e6 * photo.opened:.0f} µs |\n"
    em = photo.view + STEPS * photo.step
    header = " | ".join(f"{size:,} photos" for size in SIZES)
    yield f"| | {header} |"
    yield f"|---|{'---|' * len(SIZES)}"
    rows: dict[str, Callable[[int], str]] = {
        "look at all, once": lambda n: _hours(photo.look * n / cores),
        "features on disk": lambda n: _bytes(photo.stored * n),
        "shards": lambda n: f"{math.ceil(n / SHARD_PHOTOS):,}",
        f"a class with all of them: lens and {STEPS} EM steps": lambda n: _hours(em * n / cores),
        "all of learning it": lambda n: _hours(photo.learn * n / cores),
        "open the store in one process": lambda n: f"{_hours(photo.opened * n)}, {_bytes(photo.known * n)}",
        "boxes.json": lambda n: _bytes(BOX_BYTES * n),
    }
    for name, value in rows.items():
        yield f"| {name} | {' | '.join(value(size) for size in SIZES)} |"
    shards = math.ceil(SIZES[-1] / SHARD_PHOTOS)
    taken, received = statistics_of(shards, dimension)
    grouped, fewer = statistics_of(math.ceil(shards / GROUP), dimension)
    yield WORDS.format(
        shards=f"{shards:,}",
        numbers=dimension + 3,
        received=_bytes(received),
        taken=f"{taken:.2g} s",
        group=f"{GROUP:,}",
        fewer=_bytes(fewer),
        grouped=f"{1e3 * grouped:.2g} ms",
        times=f"{photo.look / photo.learn:.0f}",
    )


def _hours(value: float) -> str:
    if value < 60:
        return f"{value:.2g} s"
    return f"{value / 60:.0f} min" if value < 5400 else f"{value / 3600:,.1f} h"


def _bytes(value: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value / 1e3:.0f} kB"


def main() -> None:
    """Measure, compute, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--cores", type=int, default=64)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs"))
    given = parser.parse_args()
    photo = measure(given.store)
    print(json.dumps(asdict(photo)))
    dimension = FeatureStore(given.store).header.dimension
    text = "\n".join(lines(photo, dimension, given.cores))
    (given.output / "scale.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
