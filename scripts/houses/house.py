"""A checkout whose own code answers, in processes of its own; what it leaves lies in a folder of answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from houses import snippets
from houses.photo_sets import QUERY_TRUTH, TRUTH, PhotoSet

FORMATS = "coco,yolo,voc,labelstudio,cvat"


@dataclass(frozen=True)
class Ending:
    """How a command ended."""

    code: int
    output: str
    complaint: str


@dataclass(frozen=True)
class House:
    """A checkout of the repository."""

    name: str
    root: Path

    def command(self, *words: str | Path) -> Ending:
        """Run ``tag2box`` of this checkout."""
        return self._run("-m", "tag2box", *map(str, words))

    def python(self, code: str, *words: str | Path, variables: Mapping[str, str] | None = None) -> Ending:
        """Run a snippet that imports this checkout's package and tests."""
        return self._run("-c", code, *map(str, words), variables=variables)

    def require_own_code(self) -> None:
        """End the program if this checkout's package is not what its commands import."""
        ending = self.python(snippets.WHERE)
        if not ending.output.startswith(str(self.root)):
            raise SystemExit(f"{self.root} runs {ending.output.strip() or ending.complaint}; expected its own src")

    def _run(self, *words: str, variables: Mapping[str, str] | None = None) -> Ending:
        paths = os.pathsep.join(str(self.root / place) for place in ("src", "tests"))
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1", "COLUMNS": "200", **(variables or {})}
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, env=environment)
        return Ending(done.returncode, done.stdout, done.stderr)


def extract_once(house: House, photos: PhotoSet, folder: Path) -> Path:
    """A run of a house on tagged photos; it has to succeed."""
    ending = house.command("localize", photos.photos, "-o", folder)
    if ending.code:
        raise SystemExit(f"{house.root} cannot localize {photos.name}: {ending.complaint}")
    return folder


def tell_story(house: House, photos: PhotoSet, extracted: Path, answers: Path) -> dict[str, Ending]:
    """Ask everything about a set of photos, from copies of a run; how each command ended."""
    for name in ("run", "run-all"):
        shutil.copytree(extracted, answers / name)
    (answers / "run" / "boxes.json").unlink()  # what is compared was not copied
    run, classes, results = answers / "run", answers / "run.classes", answers / "results.json"
    commands: dict[str, tuple[str | Path, ...]] = {
        "localize": ("localize", photos.photos, "-o", run),
        "all-instances": ("localize", photos.photos, "-o", answers / "run-all", "--all-instances"),
        "fit-run": ("fit", photos.photos, "--run", run, "-o", classes),
        "fit": ("fit", photos.photos, "-o", answers / "fresh.classes"),
        "detect": ("detect", classes, photos.queries, "-o", results),
        "evaluate-run": ("evaluate", run, "--truth", photos.folder / TRUTH, "--json"),
        "evaluate-results": ("evaluate", results, "--truth", photos.folder / QUERY_TRUTH, "--json"),
        "export": ("export", run, "--to", FORMATS, "-o", answers / "exports"),
    }
    endings = {name: house.command(*words) for name, words in commands.items()}
    endings["api"] = house.python(snippets.API, photos.photos, photos.queries, answers)
    return endings


def reopen(house: House, photos: PhotoSet, old: Path, answers: Path) -> dict[str, Ending]:
    """Ask a house about the class file and the results that another one wrote."""
    results = answers / "results-old-classes.json"
    return {
        "detect-old-classes": house.command("detect", old / "run.classes", photos.queries, "-o", results),
        "evaluate-old-results": house.command(
            "evaluate", old / "results.json", "--truth", photos.folder / QUERY_TRUTH, "--json"
        ),
    }


def run_demo(house: House, answers: Path) -> Ending:
    """The demo; leaves ``demo/results.json``."""
    return house.command("demo", "-o", answers / "demo")


def run_planted(house: House, settings: Path, folder: Path) -> Ending:
    """A small table on planted images; leaves results that ``planted_rows`` reads."""
    folder.mkdir(parents=True)
    planted = house.python(snippets.PLANT, folder)
    if planted.code:
        return planted
    asked = folder / "planted.toml"
    for line in snippets.ABOUT_THE_TABLE:
        asked.write_text(f"{line}\n{snippets.PLANTED_TABLE}", encoding="utf-8")
        if house.command("bench", "list", asked).code == 0:
            break
    places = ("--data", folder / "data", "--store", folder / "store", "--model", folder / "model")
    return house.command("bench", "run", asked, *places, "--settings", settings)


def planted_rows(folder: Path) -> dict[str, Any]:
    """The results of a planted table by method."""
    files = sorted((folder / "store" / "results").glob("*.json"))
    results = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    return {result["row"]["method"]: result for result in results}
