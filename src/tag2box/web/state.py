"""What a page is shown of a run: all of it at one moment, as plain values that no later work changes."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

from tag2box.boxes import Size
from tag2box.data.labelled import FoundBox
from tag2box.data.tags import TaggedPhoto
from tag2box.methods.calibration import SUSPECT
from tag2box.product.corrections import Known, Said, Shows, ShowsNot, Undo, standing
from tag2box.product.finding import Found, Place
from tag2box.product.moving import moves
from tag2box.viz.palette import ink_on
from tag2box.web.keepsakes import Keepsakes

Entry = dict[str, Any]


class View(NamedTuple):
    """Everything that a page is made from."""

    photos: Sequence[TaggedPhoto]
    known: Known
    said: Sequence[Said]
    found: Found | None
    sizes: Mapping[str, Size]
    unreadable: Collection[str]
    """Photos that cannot be looked at"""
    keepsakes: Keepsakes


@final
@dataclass(frozen=True)
class Snapshot:
    """The photos and classes of a run, each photo with the number of the snapshot in which it was new."""

    number: int = 0
    photos: Mapping[str, Entry] = field(default_factory=dict)
    """By id"""
    since: Mapping[str, int] = field(default_factory=dict)
    """Id → number of the snapshot from which on it is as it is now"""
    classes: Sequence[Entry] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    def next(self, view: View) -> Snapshot:
        """The snapshot that follows."""
        photos = photo_entries(view)
        number = self.number + 1
        since = {key: self.since[key] if self.photos.get(key) == one else number for key, one in photos.items()}
        return Snapshot(number, photos, since, class_entries(view), _counts(photos))

    def news(self, after: int) -> list[Entry]:
        """The photos that are not as they were in an earlier snapshot."""
        return [one for key, one in self.photos.items() if self.since[key] > after]


def photo_id(name: str) -> str:
    """What a photo is called in addresses: it says nothing of the file."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def photo_entries(view: View) -> dict[str, Entry]:
    """Every photo by its id, in the order of their names."""
    words: dict[str, dict[str, Said]] = defaultdict(dict)
    for (photo, label), one in _last_words(view.said).items():
        words[photo][label] = one
    found = view.found.boxes() if view.found is not None else {}
    return {
        photo_id(photo.name): _photo_entry(photo.name, view, words.get(photo.name, {}), found.get(photo.name, ()))
        for photo in view.photos
    }


def class_entries(view: View) -> list[Entry]:
    """Every tag that is or was in use, with what became of it."""
    learned = {one.label: one for one in view.found.learned} if view.found is not None else {}
    verdicts = view.found.verdicts() if view.found is not None else {}
    entries = []
    for label in labels_of(view):
        photos = sum(label in words for words in view.known.tags.values())
        entry: Entry = {"label": label, "photos": photos, "colour": view.keepsakes.colours[label]}
        entry |= {"ink": ink_on(entry["colour"]), "min_score": view.keepsakes.min_score(label)}
        if label in learned:
            entry |= {"verdict": verdicts[label].state, "words": verdicts[label].words}
            entry |= {"right": round(learned[label].expected_right, 2), "steps": len(learned[label].likelihoods)}
        else:
            few = "It has one photo only: nothing can be common to one." if photos == 1 else "Not looked for yet."
            entry |= {"verdict": "none", "words": few, "right": 0.0, "steps": 0}
        entries.append(entry)
    return entries


def labels_of(view: View) -> list[str]:
    """Every tag that a photo has or had, sorted."""
    said = {one.what.label for one in view.said if not isinstance(one.what, Undo)}
    return sorted(said.union(*view.known.tags.values()))


def moved_boxes(before: Found | None, after: Found, touched: Collection[Place]) -> list[Place]:
    """Photos and labels whose box is now elsewhere, though nobody spoke of them."""
    moved = moves(before, after, touched)
    return [(str(one.photo), one.label) for one in moved if one.before is not None and one.after is not None]


def rounded(box: Sequence[float]) -> list[float]:
    """Edges to a tenth of a pixel."""
    return [round(float(edge), 1) for edge in box]


def _last_words(said: Sequence[Said]) -> dict[Place, Said]:
    """What was said last of each photo and thing, and counts."""
    return {(one.what.photo, one.what.label): one for one in standing(said) if not isinstance(one.what, Undo)}


def _photo_entry(name: str, view: View, words: Mapping[str, Said], found: Sequence[FoundBox]) -> Entry:
    height, width = view.sizes.get(name, (0, 0))
    tags = sorted(view.known.tags[name])
    by_label = {box.label: box for box in found}
    boxes = [_box_entry(label, words.get(label), by_label.get(label)) for label in tags]
    return {
        "id": photo_id(name),
        "name": view.keepsakes.titles.get(name, name),
        "width": width,
        "height": height,
        "readable": name not in view.unreadable,
        "tags": tags,
        "boxes": [box for box in boxes if box is not None],
        "absent": sorted(label for label, one in words.items() if isinstance(one.what, ShowsNot)),
    }


def _box_entry(label: str, word: Said | None, found: FoundBox | None) -> Entry | None:
    """Where a thing is: what a person says goes before what was found."""
    if word is not None and isinstance(word.what, Shows):
        said = "accepted" if word.what.accepted else "corrected"
        sure = {"score": 1.0, "doubt": 0.0, "absence": 0.0, "suspect": False}
        return {"label": label, "box": rounded(word.what.box), **sure, "said": said}
    if found is None:
        return None
    figures = {"score": round(found.score, 4), "doubt": round(found.doubt, 4), "absence": round(found.absence, 4)}
    suspect = found.absence >= SUSPECT
    return {"label": label, "box": rounded(found.box), **figures, "suspect": suspect, "said": "unseen"}


def _counts(photos: Mapping[str, Entry]) -> dict[str, int]:
    said = Counter(box["said"] for one in photos.values() for box in one["boxes"])
    absent = sum(len(one["absent"]) for one in photos.values())
    counts = {state: said[state] for state in ("unseen", "accepted", "corrected")}
    return {"photos": len(photos), "boxes": said.total(), **counts, "absent": absent}
