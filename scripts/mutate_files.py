"""Damages files that tag2box reads, thousands of times: the answer must be a clear error or none, never anything else.

    python scripts/mutate_files.py [--times 10000] [--seed N]

The files come from the product's own commands on the demo's photos: a run, its feature store, a class file,
detections, and annotations in every format. Each is damaged in small ways (bytes turned, cut, doubled; numbers made
huge) and read as the commands read it. A crash, another exception or a wait of more than ten seconds ends the script
with the bytes in a file.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from kill_commands import COMMANDS, EXPORTED, finish, prepare
from tag2box.data import read_tags, read_truth
from tag2box.data.formats.coco_results import read_results
from tag2box.errors import Tag2BoxError
from tag2box.model import Model
from tag2box.product.class_file import load_classes
from tag2box.product.run import Run
from tag2box.store import FeatureStore

LONGEST = 10
"""Seconds for one reading."""
CULPRIT = Path("mutated-file")
HUGE = (b"1e999", b"-1", b"99999999999999999999", b"NaN", b"null", b'"', b"{}", b"[[[[", b"\x00", "é".encode())

Reader = Callable[[Path], object]


def read_store(folder: Path) -> None:
    """All of a store, and its checksums."""
    store = FeatureStore(folder)
    for _ in store.scan():
        pass
    list(store.verify())


def read_run(folder: Path, model: Model) -> None:
    """Open a run, with what people said of it."""
    with Run.open(folder, model) as run:
        run.journal.said()


def read_annotations(place: Path) -> None:
    """Tags, then boxes."""
    read_tags(place)
    read_truth(place)


def places(folder: Path) -> list[tuple[str, Path, Path, Reader]]:
    """What is damaged: kind, file, what is read then, and how."""
    model = Model.open(None, threads=1)
    found: list[tuple[str, Path, Path, Reader]] = [
        ("class file", folder / "things.classes", folder / "things.classes", load_classes),
        ("detections", folder / "found.json", folder / "found.json", read_results),
    ]
    run = folder / "run"
    found += [("run", run / name, run, lambda place: read_run(place, model)) for name in ("run.json", "photos.json")]
    found += [("store", file, file.parent, read_store) for file in sorted((run / "features").glob("[!.]*"))]
    for name in EXPORTED[:-1]:  # the last one is not read
        base = folder / "exported" / name
        texts = [file for file in sorted(base.rglob("*")) if file.suffix in {".json", ".xml", ".txt", ".yaml"}]
        found += [(name, file, _door(base, file), read_annotations) for file in texts[:6]]
    return found


def _door(base: Path, file: Path) -> Path:
    """What a person would give to a command: the file itself, or the folder that it belongs to."""
    return file if file.suffix in {".json", ".yaml"} or file.parent == base else base


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The content with one to three small damages; those to a long file are often near its beginning."""
    for _ in range(rng.randint(1, 3)):
        reach = len(content) if rng.random() < 0.5 else min(len(content), 3000)
        at, length = rng.randrange(max(reach, 1)), rng.choice([1, 1, 2, 8, 100, 5000])
        piece = content[at : at + length]
        damaged = rng.choice(
            [
                bytes(rng.randrange(256) for _ in piece),
                b"",
                piece + piece,
                bytes(byte ^ (1 << rng.randrange(8)) for byte in piece),
                rng.choice(HUGE),
            ]
        )
        content = content[:at] + damaged + content[at + length :]
        if rng.random() < 0.1:
            content = content[: rng.randrange(len(content) + 1)]
        numbers = list(re.finditer(rb"\d+", content[:20_000]))
        if numbers and rng.random() < 0.3:
            one = rng.choice(numbers)
            content = content[: one.start()] + rng.choice(HUGE) + content[one.end() :]
    return content


def damage(folder: Path, times: int, seed: int) -> None:
    """Damage the files in turn, read each, and put it back."""

    def too_long(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer for {LONGEST} seconds")

    signal.signal(signal.SIGALRM, too_long)
    rng, told = random.Random(seed), dict[str, list[int]]()
    known = places(folder)
    for number in range(times):
        kind, file, place, read = known[number % len(known)]
        right = file.read_bytes()
        wrong = mutated(right, rng)
        CULPRIT.write_bytes(wrong)
        file.write_bytes(wrong)
        counts = told.setdefault(kind, [0, 0])
        signal.alarm(LONGEST)
        try:
            read(place)
            counts[0] += 1
        except Tag2BoxError as error:
            if not str(error).strip():
                raise SystemExit(f"{kind}: an error without words; {file.name} is kept as {CULPRIT}") from error
            counts[1] += 1
        except BaseException as error:
            raise SystemExit(f"{kind}: {type(error).__name__}: {error}; {file.name} is kept as {CULPRIT}") from error
        finally:
            signal.alarm(0)
            file.write_bytes(right)
    for kind, (fine, refused) in told.items():
        print(f"{kind}: {fine + refused:,} times damaged, {refused:,} refused in words, {fine:,} read all the same")
    CULPRIT.unlink(missing_ok=True)


def main() -> None:
    """Make the files, then damage them in a process that may die."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for command in COMMANDS:
            finish(command, folder)
        worker = multiprocessing.get_context("spawn").Process(target=damage, args=(folder, given.times, given.seed))
        worker.start()
        worker.join()
    if worker.exitcode:
        sys.exit(f"the reader ended with code {worker.exitcode}; the last file is kept as {CULPRIT}")


if __name__ == "__main__":
    main()
