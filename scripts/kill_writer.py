"""Kills a process that writes a feature store, again and again, and checks that nothing sealed is ever lost.

Each round starts a writer that resumes the store, kills it with SIGKILL at a random moment, and then opens and
verifies the store: every shard that a writer reported as sealed must be there, and every bag as it was written.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import IO, cast

import numpy as np

from tag2box import files
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import ProposalBag

REGIONS, DIMENSION = 300, 64
HEADER = StoreHeader("kill-test", DIMENSION)
SHARD_BYTES = 4_000_000
IMAGES = 100_000
LONGEST_LIFE = 0.1
"""Seconds that a writer lives at most after its first sign of life."""
MOMENTS = ("start", "run", "write")
"""Kills hit a writer that starts, that runs, and that is in the middle of a write, in turn."""
FIRST_IMAGES = 50
"""Images that are sealed in peace, before the first kill."""
LINGER = 0.5
"""Seconds that a writer waits before it syncs, if it is to be killed in the middle of a write."""
LONGEST_START = 0.6
"""Seconds that a writer lives at most if it is killed while it starts."""


@dataclass(frozen=True)
class KillReport:
    """What all the kills left."""

    kills: int
    images: int
    shards: int
    leftovers: int
    """Half-written files found after a kill: proof that some kills hit the middle of a write."""


@cache
def _first_image() -> ProposalBag:
    rng = np.random.default_rng(0)
    low = rng.uniform(0.0, 50.0, size=(REGIONS - 1, 2))
    high = low + rng.uniform(1.0, 50.0, size=(REGIONS - 1, 2))
    boxes = np.vstack([[0.0, 0.0, 100.0, 100.0], np.hstack([low, high])])
    return ProposalBag.from_raw("image-0", boxes, rng.standard_normal((REGIONS, DIMENSION)), rng.uniform(size=REGIONS))


def image(number: int) -> ProposalBag:
    """The same image for the same number, in every process; quick, so that writers mostly write."""
    first = _first_image()
    norms = np.roll(first.norms, number)
    return ProposalBag.trusted(f"image-{number}", first.boxes, first.features, first.objectness, norms)


def linger_before_sync(seconds: float) -> None:
    """Make every write of this process take longer, so that a kill can hit the middle of one."""
    sync = files.sync

    def slow_sync(path: Path) -> None:
        time.sleep(seconds)
        sync(path)

    files.sync = slow_sync


def write_until_killed(folder: Path) -> None:
    """Resume the store and append images for ever; each line of output is the number of images sealed so far."""
    with StoreWriter(folder, HEADER, shard_bytes=SHARD_BYTES) as writer:
        shards = _count(folder)
        print(0, flush=True)
        for number in range(IMAGES):
            if f"image-{number}" in writer:
                continue
            writer.append(image(number))
            if _count(folder) > shards:
                shards = _count(folder)
                print(number + 1, flush=True)


def _count(folder: Path) -> int:
    return len(list(folder.glob("shard-*.safetensors")))


def kill_one(folder: Path, moment: str, chance: random.Random) -> int:
    """Start a writer, kill it, and return the largest number of images that it said were sealed."""
    command = [sys.executable, __file__, "--write", str(folder), "--linger", str(LINGER if moment == "write" else 0.0)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output = cast("IO[str]", process.stdout)
        if moment == "start":
            time.sleep(chance.uniform(0.0, LONGEST_START))
        else:
            output.readline()
            time.sleep(chance.uniform(0.0, LONGEST_LIFE))
        if moment == "write":
            _wait_for_write(folder)
        process.kill()
        lines = list(output)
    return max((int(line) for line in lines if line.endswith("\n")), default=0)


def _wait_for_write(folder: Path) -> None:
    """Return as soon as a shard is being written, or after five seconds."""
    deadline = time.monotonic() + 5.0
    while time.monotonic() < deadline and not list(folder.glob(".*.part")):
        time.sleep(0.001)


def check(folder: Path, sealed: int) -> int:
    """Open and verify the store, and compare what it holds with what was written; returns the number of images."""
    store = FeatureStore(folder, expected=HEADER)
    list(store.verify())
    if store.image_ids != tuple(f"image-{number}" for number in range(len(store))):
        raise SystemExit(f"the store holds {len(store)} images with a gap or a repeat")
    if len(store) < sealed:
        raise SystemExit(f"{sealed} images were sealed, {len(store)} are left")
    for number in {0, len(store) // 2, len(store) - 1} if len(store) else ():
        np.testing.assert_array_equal(store.bag(f"image-{number}").norms, image(number).norms)
    return len(store)


def kill_many(folder: Path, kills: int, seed: int) -> KillReport:
    """Kill ``kills`` writers of one store, checking the store after each."""
    chance, sealed, leftovers = random.Random(seed), FIRST_IMAGES, 0
    with StoreWriter(folder, HEADER) as writer:
        for number in range(FIRST_IMAGES):
            writer.append(image(number))
    for moment in islice(cycle(MOMENTS), kills):
        sealed = max(sealed, kill_one(folder, moment, chance))
        leftovers += bool(list(folder.glob(".*.part")))
        sealed = check(folder, sealed)
    return KillReport(kills, sealed, _count(folder), leftovers)


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--linger", type=float, default=0.0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        linger_before_sync(arguments.linger)
        write_until_killed(arguments.write)
        return
    with tempfile.TemporaryDirectory() as folder:
        report = kill_many(Path(folder), arguments.kills, arguments.seed)
    print(
        f"{report.kills} kills: {report.images} images in {report.shards} shards, nothing sealed was lost; "
        f"{report.leftovers} kills hit the middle of a write."
    )


if __name__ == "__main__":
    main()
