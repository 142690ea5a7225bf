"""Applies small mistakes to a copy of the code, one at a time; the tests must catch each of them.

Usage: python scripts/sabotage.py [WORD ...]  (only the sabotages whose name contains one of the words)
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORKERS = 2
LONGEST_RUN = 300.0
"""Seconds after which tests that hang count as having noticed."""


@dataclass(frozen=True)
class Sabotage:
    """A mistake that somebody could make, and the tests that must notice it."""

    name: str
    file: str
    right: str
    wrong: str
    tests: str

    def spoil(self, text: str) -> str:
        """The file with the mistake in it; the right version must occur exactly once."""
        if text.count(self.right) != 1:
            raise SystemExit(f"sabotage {self.name!r}: {self.right!r} occurs {text.count(self.right)} times")
        return text.replace(self.right, self.wrong)


def load_sabotages() -> list[Sabotage]:
    """All sabotages of the list beside this script."""
    content = tomllib.loads(Path(__file__).with_name("sabotages.toml").read_text(encoding="utf-8"))
    return [Sabotage(**fields) for fields in content["sabotage"]]


def survives(sabotage: Sabotage) -> tuple[bool, float]:
    """Whether the tests pass on a copy of the code with the mistake in it, and how long they took."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for name in ("tests", "scripts"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        target = copy / "src" / "tag2box" / sabotage.file
        target.write_text(sabotage.spoil(target.read_text()))
        if target.suffix in {".c", ".h"}:
            compile_again(target.with_name("rows.c"))
        environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"tests/{sabotage.tests}"]
        started = time.monotonic()
        try:
            done = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST_RUN
            )
        except subprocess.TimeoutExpired:
            return False, time.monotonic() - started
        if done.returncode not in (0, 1):
            raise SystemExit(f"sabotage {sabotage.name!r}: the tests did not run\n{done.stdout}{done.stderr}")
        return done.returncode == 0, time.monotonic() - started


def compile_again(source: Path) -> None:
    """Put the library that a file in C makes in the place of the one that was copied."""
    (library,) = source.parent.glob("_*.so")
    subprocess.run(["cc", "-std=c11", "-O2", "-w", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)


def main() -> None:
    """Apply every sabotage, report each, and fail if one survives."""
    words = sys.argv[1:]
    chosen = [s for s in load_sabotages() if not words or any(word in s.name for word in words)]
    survivors = []
    with ThreadPoolExecutor(WORKERS) as pool:
        for number, (sabotage, (alive, seconds)) in enumerate(zip(chosen, pool.map(survives, chosen), strict=True), 1):
            print(
                f"{number:3d}/{len(chosen)}  {'ALIVE ' if alive else 'caught'}  {seconds:5.1f} s  {sabotage.name}",
                flush=True,
            )
            survivors += [sabotage.name] if alive else []
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} sabotages were caught.")
    if survivors:
        raise SystemExit(f"the tests let these live: {', '.join(survivors)}")


if __name__ == "__main__":
    main()
