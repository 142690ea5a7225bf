"""Where two answers differ, and by how much: values, boxes, detections, class files and folders of exports."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from safetensors import safe_open

ABSENT: Final = "(absent)"
THRESHOLD: Final = 0.5
"""Detections with a lower score count as not found, whether a file lists them or not."""
PICTURES: Final = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
NUMBER: Final = re.compile(r"(-?\d+(?:\.\d+)?)")


class ByName(dict[str, Any]):
    """Entries by the name of what they are about: one too many is a difference, not a further fact."""


@dataclass(frozen=True)
class Comparison:
    """What a comparison of two answers came to."""

    item: str
    largest: Mapping[str, float] = field(default_factory=dict)
    """Field → largest difference of its numbers, where there is any"""
    differing: tuple[str, ...] = ()
    """Every place that differs by more than is tolerated"""
    notes: tuple[str, ...] = ()
    """What is new, but no difference"""

    @property
    def same(self) -> bool:
        """Whether nothing differs by more than is tolerated."""
        return not self.differing


class Leaf(NamedTuple):
    """A value that is no collection, on both sides."""

    place: str
    field: str
    old: Any
    new: Any

    @property
    def gap(self) -> float:
        """How far the values are apart; infinite if they are not both numbers."""
        if self.old == self.new:
            return 0.0
        if isinstance(self.old, int | float) and isinstance(self.new, int | float):
            gap = abs(float(self.old) - float(self.new))
            both_missing = math.isnan(float(self.old)) and math.isnan(float(self.new))
            return 0.0 if both_missing else math.inf if math.isnan(gap) else gap
        return math.inf


def compare_values(
    item: str, old: Any, new: Any, tolerance: float, *, ignored: Collection[str] = (), notes: tuple[str, ...] = ()
) -> Comparison:
    """Compare what JSON can hold; keys that only the new answer has are noted, unless they are names."""
    largest: dict[str, float] = {}
    differing: list[str] = []
    further: Counter[str] = Counter()
    for leaf in _leaves(old, new, "", "", ignored):
        if leaf.old is ABSENT and leaf.field:
            further[leaf.field] += 1
            continue
        if math.isfinite(leaf.gap) and leaf.gap > 0.0:
            largest[leaf.field] = max(largest.get(leaf.field, 0.0), leaf.gap)
        if leaf.gap > tolerance:
            differing.append(f"{leaf.place}: {_short(leaf.old)} → {_short(leaf.new)}")
    found = tuple(f"new field {name} ({count} ×)" for name, count in further.items())
    return Comparison(item, largest, tuple(differing), (*notes, *found))


def _leaves(old: Any, new: Any, place: str, name: str, ignored: Collection[str]) -> Iterator[Leaf]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in ignored:
                kind = "" if isinstance(old, ByName) and key not in old else str(key)
                yield from _leaves(old.get(key, ABSENT), new.get(key, ABSENT), f"{place}/{key}", kind, ignored)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield Leaf(f"{place} length", "length", len(old), len(new))
        for number, (first, second) in enumerate(zip(old, new, strict=False)):
            yield from _leaves(first, second, f"{place}[{number}]", name, ignored)
    else:
        yield Leaf(place, name, old, new)


def _short(value: Any) -> str:
    text = value if value is ABSENT else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def boxes_of(content: dict[str, Any]) -> ByName:
    """The boxes of a COCO file by photo and class, without their running numbers."""
    photos = {image["id"]: image["file_name"] for image in content["images"]}
    classes = {category["id"]: category["name"] for category in content["categories"]}
    found = ByName({name: ByName() for name in photos.values()})
    for entry in content["annotations"]:
        kept = {key: value for key, value in entry.items() if key != "id"}
        found[photos[entry["image_id"]]].setdefault(classes[entry["category_id"]], []).append(kept)
    return found


def sizes_of(content: dict[str, Any]) -> ByName:
    """The sizes of the photos of a COCO file, by photo."""
    return ByName({i["file_name"]: {"width": i["width"], "height": i["height"]} for i in content["images"]})


def detections_of(entries: list[dict[str, Any]]) -> tuple[ByName, int]:
    """Detections that reach the threshold by photo (its file's own name) and class; and how many do not."""
    found = ByName()
    below = 0
    for entry in entries:
        if entry["score"] < THRESHOLD:
            below += 1
            continue
        kept = {key: value for key, value in entry.items() if key not in {"id", "file_name"}}
        photo = found.setdefault(Path(entry["file_name"]).name, ByName())
        photo.setdefault(entry["category_name"], []).append(kept)
    return found, below


def compare_detections(item: str, old: list[dict[str, Any]], new: list[dict[str, Any]], tolerance: float) -> Comparison:
    """Compare what two files of results found; entries below the threshold are counted, no more."""
    (found, few), (found_now, many) = detections_of(old), detections_of(new)
    notes = (f"{few} → {many} entries below {THRESHOLD}",) if few != many else ()
    return compare_values(item, found, found_now, tolerance, notes=notes)


def class_file(path: Path) -> dict[str, Any]:
    """Tensors and metadata of a class file, as plain values."""
    with safe_open(path, framework="numpy") as file:
        names = file.keys()
        tensors = {name: file.get_tensor(name).tolist() for name in names}
        metadata = {key: _parsed(text) for key, text in (file.metadata() or {}).items()}
    return {"tensors": tensors, "metadata": metadata}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def compare_folders(item: str, old: Path, new: Path, tolerance: float) -> list[Comparison]:
    """Compare the names of all files, and what is in those that are no pictures."""
    before, after = _files(old), _files(new)
    texts, texts_now = (
        ByName({name: _content(path, root) for name, path in files.items() if path.suffix.lower() not in PICTURES})
        for files, root in ((before, old), (after, new))
    )
    both = texts.keys() & texts_now.keys()
    kept, kept_now = (ByName({name: each[name] for name in sorted(both)}) for each in (texts, texts_now))
    return [
        compare_values(f"{item} names", ByName.fromkeys(before, True), ByName.fromkeys(after, True), tolerance),
        compare_values(f"{item} texts", kept, kept_now, tolerance),
    ]


def _files(root: Path) -> dict[str, Path]:
    return {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}


def _content(path: Path, root: Path) -> Any:
    """A JSON file's value, or the lines of another file cut into words and numbers; paths begin at ``root``."""
    text = path.read_text(encoding="utf-8").replace(str(root.resolve()), "ROOT").replace(str(root), "ROOT")
    if path.suffix == ".json":
        return json.loads(text)
    return [
        [float(part) if NUMBER.fullmatch(part) else part for part in NUMBER.split(line)] for line in text.split("\n")
    ]
