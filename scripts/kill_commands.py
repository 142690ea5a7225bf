"""Kills the product's commands with SIGKILL at random moments; the same command must end as if nothing had happened.

    python scripts/kill_commands.py [--kills 100] [--seed N]

Every command works on the demo's photos, first undisturbed. Then it is started and killed some times, and left alone
once: the files that it leaves must have the bytes of the undisturbed ones. What it may do again or in another order,
such as the shards of a store, is not compared.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

KILLS_IN_A_ROW = 5
"""Before a command is left alone."""
NOT_COMPARED = ("features", "drawn")
"""Folders of a run whose files depend on when it was interrupted."""
LONGEST = 300.0


@dataclass(frozen=True)
class Command:
    """A command of the product, and what it leaves."""

    name: str
    words: tuple[str, ...]
    leaves: str
    """File or folder"""


EXPORTED = ("coco", "yolo", "voc", "labelstudio", "cvat", "roboflow", "fiftyone", "huggingface")

COMMANDS = (
    Command("localize", ("localize", "photos", "-o", "run"), "run"),
    Command("fit", ("fit", "photos", "-o", "things.classes"), "things.classes"),
    Command("detect", ("detect", "things.classes", "queries", "-o", "found.json"), "found.json"),
    Command("export", ("export", "run", "--to", ",".join(EXPORTED), "-o", "exported"), "exported"),
)


def prepare(folder: Path) -> None:
    """The demo's photos, a folder for each tag, and its queries."""
    with as_file(files("tag2box") / "assets" / "demo") as demo:
        for photo in sorted((demo / "photos").glob("*.jpg")):
            tagged = folder / "photos" / photo.stem.rpartition("-")[0]
            tagged.mkdir(parents=True, exist_ok=True)
            shutil.copy(photo, tagged)
        shutil.copytree(demo / "queries", folder / "queries")


def start(command: Command, folder: Path) -> subprocess.Popen[bytes]:
    """The command in a process of its own, with a clock that stands still."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0"}
    words = [sys.executable, "-m", "tag2box", *command.words]
    return subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )


def finish(command: Command, folder: Path) -> float:
    """Run the command to its end, and say how long it took."""
    began = time.monotonic()
    process = start(command, folder)
    _, complaint = process.communicate(timeout=LONGEST)
    if process.returncode:
        raise SystemExit(f"{command.name} ended with {process.returncode}: {complaint.decode(errors='replace')}")
    return time.monotonic() - began


def kill(command: Command, folder: Path, after: float) -> bool:
    """Start the command and kill it after some seconds; whether it was still at work."""
    process = start(command, folder)
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return True
    return False


def contents(path: Path) -> dict[str, bytes]:
    """Every file that a command leaves, by name; hidden ones are nobody's business, half-written ones least of all."""
    if path.is_file():
        return {path.name: path.read_bytes()}
    found = (file for file in sorted(path.rglob("*")) if file.is_file())
    names = {file: file.relative_to(path) for file in found}
    return {
        str(name): file.read_bytes()
        for file, name in names.items()
        if not any(part.startswith(".") or part in NOT_COMPARED for part in name.parts)
    }


def disturb(command: Command, folder: Path, kills: int, rng: random.Random) -> int:
    """Kill the command so many times, leaving it alone now and then; how many kills hit it at work."""
    seconds, hits = finish(command, folder), 0
    wanted = contents(folder / command.leaves)
    for number in range(kills):
        if number % KILLS_IN_A_ROW == 0:
            _remove(folder / command.leaves)
        hits += kill(command, folder, rng.uniform(0.0, seconds))
        if number % KILLS_IN_A_ROW == KILLS_IN_A_ROW - 1 or number == kills - 1:
            finish(command, folder)
            require_same(command, wanted, contents(folder / command.leaves))
    return hits


def require_same(command: Command, wanted: dict[str, bytes], found: dict[str, bytes]) -> None:
    """End here if a file is missing, or there too much, or different."""
    for name in sorted({*wanted, *found}):
        if wanted.get(name) != found.get(name):
            raise SystemExit(f"{command.name}: {name} is not what an undisturbed run writes")


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def kill_all(folder: Path, kills: int, seed: int, commands: Sequence[Command] = COMMANDS) -> None:
    """Kill every command so many times."""
    rng = random.Random(seed)
    prepare(folder)
    for command in commands:
        hits = disturb(command, folder, kills, rng)
        print(f"{command.name}: {kills} kills, {hits} of them at work; the same bytes in the end", flush=True)


def main() -> None:
    """Kill, and say what is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kill_all(Path(folder), given.kills, given.seed)


if __name__ == "__main__":
    main()
