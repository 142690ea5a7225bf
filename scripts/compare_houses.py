"""Asks two checkouts of this repository the same questions; proves that a rebuilt house gives the same answers.

python scripts/compare_houses.py OLD NEW [--photos FOLDER --truth BOXES.json] [--allow WORD ...] [--time-learning]

The photos are extracted once, by OLD; both go on from copies of that run. Ends with 1 if anything differs beyond the
tolerance that is not allowed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from houses.differences import (
    ByName,
    Comparison,
    boxes_of,
    class_file,
    compare_detections,
    compare_folders,
    compare_values,
    sizes_of,
)
from houses.house import FORMATS, Ending, House, extract_once, planted_rows, reopen, run_demo, run_planted, tell_story
from houses.photo_sets import PhotoSet, copy_demo, copy_photos
from houses.timing import time_learning

WHEN = ("learned",)
"""What a class file says about the time."""
NOT_THE_ANSWER = ("seconds", "commit", "extractor", "version")
"""What a planted row says about how it was made."""


def main() -> None:
    """Compare, print the table and end with 1 if the houses disagree."""
    asked = _arguments().parse_args()
    old, new = House("old", asked.old.resolve()), House("new", asked.new.resolve())
    for house in (old, new):
        house.require_own_code()
    with tempfile.TemporaryDirectory() as scratch:
        work = (asked.keep or Path(scratch)).resolve()
        sets = [copy_demo(old.root, work / "demo" / "set")]
        if asked.truth is not None:
            photos = asked.photos or asked.truth.parent
            sets.append(copy_photos(photos, asked.truth, work / asked.truth.parent.name / "set", asked.count))
        if asked.time_learning:
            found = [_timed(old, new, sets[-1], asked.count, asked.rounds)]
        else:
            found = [each for photos in sets for each in compare_set(old, new, photos, asked.tolerance)]
            found += compare_demo(old, new, work / "demo", asked.tolerance)
            found += compare_planted(old, new, work / "planted", asked.tolerance)
    print_table(found, asked.allow)
    sys.exit(1 if disagreements(found, asked.allow) else 0)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("old", type=Path, help="checkout whose answers are right")
    parser.add_argument("new", type=Path, help="checkout that must give the same")
    parser.add_argument("--photos", type=Path, help="folder of further photos; without, that of the truth")
    parser.add_argument("--truth", type=Path, help="COCO file of further photos")
    parser.add_argument("--count", type=int, default=10, help="photos of each class, tagged, and as many queries")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="largest difference that is none")
    parser.add_argument("--allow", action="append", default=[], metavar="WORD", help="items that may differ")
    parser.add_argument("--keep", type=Path, help="new folder in which all answers stay")
    parser.add_argument("--time-learning", action="store_true", help="only measure how long learning a class takes")
    parser.add_argument("--rounds", type=int, default=7, help="of the measurement")
    return parser


def compare_set(old: House, new: House, photos: PhotoSet, tolerance: float) -> list[Comparison]:
    """Everything that two houses say about a set of photos."""
    extracted = extract_once(old, photos, photos.folder.parent / "extracted")
    first, second = (photos.folder.parent / house.name for house in (old, new))
    before, after = (tell_story(house, photos, extracted, place) for house, place in ((old, first), (new, second)))
    before |= {"detect-old-classes": before["detect"], "evaluate-old-results": before["evaluate-results"]}
    after |= reopen(new, photos, first, second)
    found = [compare_endings(name, before[name], after[name]) for name in before]
    found += [compare_printed(name, before[name], after[name], tolerance) for name in before if "evaluate" in name]
    found += compare_answers(first, second, tolerance)
    return [Comparison(f"{photos.name} {one.item}", one.largest, one.differing, one.notes) for one in found]


def compare_endings(name: str, old: Ending, new: Ending) -> Comparison:
    """Whether a command ended alike; if it failed, its last words are told."""
    words = [ending.complaint.strip().splitlines()[-1:] for ending in (old, new)]
    told = "; ".join(line for lines in words for line in lines)
    differing = (f"ended with {old.code} → {new.code}: {told}",) if old.code != new.code else ()
    notes = (f"both end with {old.code}: {told}",) if old.code == new.code != 0 else ()
    return Comparison(f"{name} ends", {}, differing, notes)


def compare_printed(name: str, old: Ending, new: Ending, tolerance: float) -> Comparison:
    """Whether a command printed the same JSON; one that failed has printed none."""
    first, second = (json.loads(ending.output) if ending.code == 0 else {} for ending in (old, new))
    return compare_values(name, first, second, tolerance)


def compare_answers(old: Path, new: Path, tolerance: float) -> list[Comparison]:
    """Compare the files that two houses left."""
    found = [each for run in ("run", "run-all") for each in _compared_runs(run, old / run, new / run, tolerance)]
    classes = ("run.classes", "fresh.classes", "api.classes")
    found += [_compared(name, old / name, new / name, tolerance, class_file) for name in classes]
    results = ("results.json", "results-old-classes.json")
    found += [_compared_results(name, old / "results.json", new / name, tolerance, _json) for name in results]
    for name in FORMATS.split(","):
        found += compare_folders(f"export {name}", old / "exports" / name, new / "exports" / name, tolerance)
    api = (old / "api.json", new / "api.json", tolerance)
    found.append(_compared("api boxes", *api, _api_boxes))
    return [*found, _compared_results("api detections", *api, lambda path: _json(path)["detections"])]


def _compared_runs(name: str, old: Path, new: Path, tolerance: float) -> list[Comparison]:
    boxes = (old / "boxes.json", new / "boxes.json", tolerance)
    return [
        _compared(f"{name} boxes", *boxes, lambda path: boxes_of(_json(path))),
        _compared(f"{name} sizes", *boxes, lambda path: sizes_of(_json(path))),
        _compared(f"{name} shards", old / "features", new / "features", tolerance, _shards),
    ]


def compare_demo(old: House, new: House, work: Path, tolerance: float) -> list[Comparison]:
    """Compare what the demo measures."""
    endings = [run_demo(house, work / house.name) for house in (old, new)]
    first, second = (work / house.name / "demo" / "results.json" for house in (old, new))
    return [compare_endings("demo command", *endings), _compared("demo figures", first, second, tolerance, _json)]


def compare_planted(old: House, new: House, work: Path, tolerance: float) -> list[Comparison]:
    """Compare the rows of a small table on planted images."""
    settings = old.root / "src" / "tag2box" / "assets" / "models" / "lite0" / "settings.json"
    endings = [run_planted(house, settings, work / house.name) for house in (old, new)]
    first, second = (ByName(planted_rows(work / house.name)) for house in (old, new))
    return [
        compare_endings("planted bench", *endings),
        compare_values("planted rows", first, second, tolerance, ignored=NOT_THE_ANSWER),
    ]


def disagreements(found: Sequence[Comparison], allowed: Sequence[str]) -> list[Comparison]:
    """Comparisons that differ and are not allowed to."""
    return [one for one in found if not one.same and not any(word in one.item for word in allowed)]


def print_table(found: Sequence[Comparison], allowed: Sequence[str]) -> None:
    """A line for each comparison: whether it is the same, the largest differences, the first thing that differs."""
    wrong = disagreements(found, allowed)
    width = max(len(one.item) for one in found)
    for one in found:
        verdict = "same" if one.same else "DIFFERS" if one in wrong else "allowed"
        largest = ", ".join(f"{name} {gap:.2g}" for name, gap in one.largest.items())
        first = [f"{one.differing[0]} ({len(one.differing)} places)"] if one.differing else []
        print(f"{one.item:{width}}  {verdict:7}  {largest or '0'}  {'; '.join([*first, *one.notes])}".rstrip())
    print(f"{len(found)} compared, {sum(one.same for one in found)} the same, {len(wrong)} disagreements.")


def _timed(old: House, new: House, photos: PhotoSet, count: int, rounds: int) -> Comparison:
    extracted = extract_once(old, photos, photos.folder.parent / "extracted")
    return time_learning(old, new, extracted / "features", photos.largest_class(count), rounds)


def _compared(item: str, old: Path, new: Path, tolerance: float, read: Callable[[Path], Any]) -> Comparison:
    """Compare two files as ``read`` sees them; one that is not there differs from one that is."""
    missing = [str(path) for path in (old, new) if not path.exists()]
    if missing:
        return Comparison(item, {}, (f"not there: {', '.join(missing)}",))
    return compare_values(item, read(old), read(new), tolerance, ignored=WHEN)


def _compared_results(item: str, old: Path, new: Path, tolerance: float, read: Callable[[Path], Any]) -> Comparison:
    if not (old.exists() and new.exists()):
        return _compared(item, old, new, tolerance, read)
    return compare_detections(item, read(old), read(new), tolerance)


def _api_boxes(path: Path) -> ByName:
    return ByName({photo: ByName(by_tag) for photo, by_tag in _json(path)["boxes"].items()})


def _shards(folder: Path) -> ByName:
    return ByName({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("shard-*"))})


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
