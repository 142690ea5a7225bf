"""What a person says about the photos of a run: kept line by line, never rewritten, and replayed.

``corrections.jsonl`` has one JSON object a line: its number, when and by whom it was said, and what.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

from tag2box.boxes import Box, Size, box_areas
from tag2box.data.dataset import Dataset
from tag2box.data.partners import find_partners, require_same_size
from tag2box.errors import RunError, reason_of
from tag2box.files import append_lines
from tag2box.store import FeatureStore


class Shows(NamedTuple):
    """The thing is in the photo, and there."""

    photo: str
    label: str
    box: Box
    """In pixels of the upright photo; kept also for a region that was pointed at, because it outlives the model"""
    row: int | None = None
    """Of the region that was pointed at; None for a box that was drawn by hand"""
    accepted: bool = False
    """Whether it had been found there, and a person says that this is right"""


class ShowsNot(NamedTuple):
    """The thing is not in the photo: its tag was wrong."""

    photo: str
    label: str


class Tag(NamedTuple):
    """The thing is in the photo, wherever."""

    photo: str
    label: str


class Undo(NamedTuple):
    """What was said under a number counts no more; undoing an Undo brings it back."""

    undoes: int


Correction = Shows | ShowsNot | Tag | Undo
KINDS: dict[str, type[Correction]] = {"shows": Shows, "shows not": ShowsNot, "tag": Tag, "undo": Undo}


class Said(NamedTuple):
    """A correction, as it was said."""

    number: int
    at: str
    by: str
    what: Correction
    breath: int = 0
    """Number of the first of those that were said in one breath, and are taken back together; 0 where it was alone"""


class Pointed(NamedTuple):
    """Where a person says that a thing is."""

    box: Box
    row: int | None
    number: int
    """Of the correction: what was described of a drawn box is kept under it"""


@final
@dataclass(frozen=True)
class Known:
    """What is in which photo, after everything that a person said."""

    tags: Mapping[str, frozenset[str]]
    """Photo → things in it"""
    regions: Mapping[str, Mapping[str, Pointed]] = field(default_factory=dict)
    """Thing → photo → where it is"""
    strangers: tuple[str, ...] = ()
    """Photos that were spoken of and are not among the given ones"""


def replay(given: Mapping[str, Collection[str]], said: Sequence[Said]) -> Known:
    """What the tags that were given become by all that was said; for a photo and a thing the last word counts."""
    tags = {photo: set(words) for photo, words in given.items()}
    regions: dict[str, dict[str, Pointed]] = {}
    strangers: set[str] = set()
    for one in standing(said):
        what = one.what
        if isinstance(what, Undo):
            continue
        if what.photo not in tags:
            strangers.add(what.photo)
            continue
        tags[what.photo].add(what.label)
        regions.setdefault(what.label, {}).pop(what.photo, None)
        if isinstance(what, ShowsNot):
            tags[what.photo].discard(what.label)
        elif isinstance(what, Shows):
            regions[what.label][what.photo] = Pointed(what.box, what.row, one.number)
    known = {label: places for label, places in regions.items() if places}
    return Known({photo: frozenset(words) for photo, words in tags.items()}, known, tuple(sorted(strangers)))


def standing(said: Sequence[Said]) -> list[Said]:
    """What is not undone, in its order."""
    undone: set[int] = set()
    for one in reversed(said):
        if isinstance(one.what, Undo) and one.number not in undone:
            undone.add(one.what.undoes)
    return [one for one in said if one.number not in undone]


def vouched_for(truth: Dataset, sizes: Mapping[str, Size], tags: Mapping[str, Collection[str]], by: str) -> list[Said]:
    """What annotations say of photos, given their sizes and tags: the largest box of each thing is where it is.

    Photos that the annotations do not have, and classes that are no tag of theirs, are passed over.
    """
    said: list[Said] = []
    for name, image in zip(sizes, find_partners(list(sizes), truth), strict=True):
        if image is None:
            continue
        require_same_size(name, sizes[name], image)
        for label in sorted(image.tags & set(tags[name])):
            boxes = image.truth.of_class(label).boxes
            x0, y0, x1, y1 = boxes[box_areas(boxes).argmax()].tolist()
            said.append(Said(len(said) + 1, "", by, Shows(name, label, (x0, y0, x1, y1))))
    return said


def require_inside(box: Box, size: Size, photo: str) -> None:
    """Refuse a box that is no box of a photo of this size."""
    height, width = size
    x0, y0, x1, y1 = box
    if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
        raise RunError(
            f"{box} is no box in {photo}.",
            f"x0 y0 x1 y1 with 0 ≤ x0 < x1 ≤ {width} and 0 ≤ y0 < y1 ≤ {height}",
            "draw it inside the photo.",
        )


def require_region(what: Shows, features: FeatureStore) -> None:
    """Refuse a box that is no box of the photo, and a row that it is not the box of."""
    require_inside(what.box, features.size(what.photo), repr(what.photo))
    if what.row is None:
        return
    boxes = features.bag(what.photo).boxes
    if not 0 <= what.row < len(boxes) or abs(boxes[what.row] - list(what.box)).max() > 1.0:
        raise RunError(
            f"region {what.row} of {what.photo!r} is not at {what.box}.",
            f"one of its {len(boxes)} regions, with its box",
            "give the box alone: it counts as drawn.",
        )


@final
class Journal:
    """The corrections of a run, on disk."""

    def __init__(self, path: Path) -> None:
        """Nothing has to be there yet."""
        self.path = path

    def said(self) -> list[Said]:
        """Everything; a last line that was cut off is as if never said, any other damage is refused."""
        if not self.path.exists():
            return []
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        return [_parsed(self.path, place, line) for place, line in enumerate(whole.splitlines(), 1)]

    def add(self, what: Correction, at: str, by: str = "") -> int:
        """Put a correction on the disk for good; its number is for ``Undo``."""
        return self.add_together([what], at, by)[0]

    def add_together(self, whats: Sequence[Correction], at: str, by: str = "") -> list[int]:
        """Put corrections on the disk that one Undo of a person shall take back; their numbers."""
        first = 1 + max((one.number for one in self.said()), default=0)
        breath = first if len(whats) > 1 else 0
        said = [Said(first + place, at, by, what, breath) for place, what in enumerate(whats)]
        self._append(said)
        return [one.number for one in said]

    def take_over(self, others: Sequence[Said]) -> None:
        """Add what was said elsewhere about the same photos, but for what is here already: same time, person, words."""
        known = {(one.at, one.by, one.what): one.number for one in self.said()}
        last = max(known.values(), default=0)
        numbers: dict[int, int] = {}
        fresh: list[Said] = []
        for one in others:
            what = Undo(numbers[one.what.undoes]) if isinstance(one.what, Undo) else one.what
            if (one.at, one.by, what) not in known:
                number = known[one.at, one.by, what] = last + len(fresh) + 1
                breath = number if one.breath == one.number else numbers.get(one.breath, 0)
                fresh.append(Said(number, one.at, one.by, what, breath))
            numbers[one.number] = known[one.at, one.by, what]
        self._append(fresh)

    def _append(self, said: Sequence[Said]) -> None:
        if said:
            append_lines(self.path, [json.dumps(_line(one), ensure_ascii=False) for one in said])


def _line(one: Said) -> dict[str, Any]:
    kind = next(name for name, form in KINDS.items() if isinstance(one.what, form))
    together = {"breath": one.breath} if one.breath else {}
    return {"number": one.number, "at": one.at, "by": one.by, "kind": kind, **together, **one.what._asdict()}


def _parsed(path: Path, place: int, line: bytes) -> Said:
    try:
        return _said(json.loads(line), place)
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(
            f"line {place} of {path} cannot be read: {reason_of(error)}.",
            "one correction a line, as tag2box writes them",
            "repair or remove the line.",
        ) from error


def _said(line: dict[str, Any], place: int) -> Said:
    """What a line says; one that a person wrote may lack its number, when and by whom."""
    form = KINDS[line["kind"]]
    if form is Undo and "undoes" not in line:  # as 0.2.0 wrote it first: over its own number
        line = {**line, "number": place, "undoes": int(line["number"])}
    fields = {name: line[name] for name in form._fields if name in line or name not in form._field_defaults}
    if "box" in fields:
        x0, y0, x1, y1 = (float(edge) for edge in fields["box"])
        fields["box"] = (x0, y0, x1, y1)
    number, breath = int(line.get("number", place)), int(line.get("breath", 0))
    return Said(number, str(line.get("at", "")), str(line.get("by", "")), form(**fields), breath)
