"""Tagged photos in memory: what was found in them, and what a person says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, final

from tag2box.boxes import Box
from tag2box.data.labelled import FoundBox
from tag2box.data.tags import clean_tags
from tag2box.errors import PhotoError, RunError
from tag2box.extract import Extracted
from tag2box.files import now
from tag2box.model import Model
from tag2box.product.album import Album, MemoryBags, Picture
from tag2box.product.corrections import (
    Correction,
    Pointed,
    Said,
    Shows,
    ShowsNot,
    replay,
    require_inside,
    standing,
)
from tag2box.product.events import Listener
from tag2box.product.finding import Found, find_classes
from tag2box.product.moving import MovedBox, moves
from tag2box.product.places import Places, pointed_at
from tag2box.product.pointing import Pointing
from tag2box.store import as_stored
from tag2box.types import ProposalBag


@final
@dataclass(frozen=True, eq=False)
class Taught:
    """What a detector was taught with, and what came of it; whatever a person says makes a new one."""

    album: Album
    tags: Mapping[str, frozenset[str]]
    """Place of a photo → its tags, as they were given"""
    bags: MemoryBags
    model: Model
    pointing: Pointing
    found: Found
    said: tuple[Said, ...] = ()
    """All that a person said, in its order"""

    @classmethod
    def by(
        cls, album: Album, tags: Mapping[str, frozenset[str]], seen: Sequence[Extracted], model: Model, listen: Listener
    ) -> Self:
        """Find every tag in the photos that have it; ``seen`` is what the extractor made of each photo."""
        bags = MemoryBags(dict(zip(tags, (each.bag for each in seen), strict=True)))

        def describe(photo: str, pointed: Pointed) -> ProposalBag:
            place = int(photo)
            described = model.extractor.describe_boxes(album.pictures[place], photo, [pointed.box])
            if described.source_hash != seen[place].source_hash:
                raise PhotoError(f"{album.title(place)} has changed since.", "the photo that was given", "fit again.")
            return as_stored(described.bag)

        return cls(album, tags, bags, model, Pointing(describe), find_classes(tags, bags, model, listen))

    @property
    def labels(self) -> tuple[str, ...]:
        """Every tag that some photo was given, sorted; also what cannot be learned."""
        return tuple(sorted({word for words in self.tags.values() for word in words}))

    @property
    def boxes(self) -> list[dict[str, FoundBox]]:
        """For each photo: tag → box."""
        boxes = self.found.boxes()
        return [{box.label: box for box in boxes[photo]} for photo in self.tags]

    def is_pointed_at(self, place: int, label: str) -> bool:
        """Whether a person said where a thing is."""
        return any(one.label == label and str(place) in one.lesson.regions for one in self.found.learned)

    def told(self, what: Correction, listen: Listener) -> Taught:
        """The same after one more word of a person's; only classes that it changes are learned again."""
        said = (*self.said, Said(len(self.said) + 1, now(), "", what))
        known = replay(self.tags, said)
        regions = self.pointing.regions(known, self.bags)
        found = find_classes(known.tags, self.bags, self.model, listen, regions=regions, before=self.found)
        return replace(self, said=said, found=found)

    def last_word(self) -> tuple[int, Shows | ShowsNot]:
        """What was said last and still counts, and its number."""
        words = [(one.number, one.what) for one in standing(self.said) if isinstance(one.what, Shows | ShowsNot)]
        if not words:
            raise RunError("no correction is left to undo.", "one that still counts", "correct something first.")
        return words[-1]

    def word(
        self,
        photo: Picture | int,
        label: str,
        box: Sequence[float] | None,
        point: Sequence[float] | None,
        absent: bool,
    ) -> Shows | ShowsNot:
        """What a person says, checked: where a thing is in a photo, or that it is not in it."""
        place = self.album.place_of(photo)
        (tag,) = clean_tags([label], "a correction")
        if tag not in self.labels:
            raise RunError(
                f"no photo was tagged with {tag!r}.", f"one of {', '.join(self.labels)}", "check it, or fit with it."
            )
        given = {"a box": box is not None, "a point": point is not None, "as absent": absent}
        if sum(given.values()) != 1:
            raise RunError(
                f"{tag!r} in {self.album.title(place)} was given {_listed(given)}.",
                "a box, or a point, or absent=True",
                "say where it is, or that it is not there.",
            )
        if point is not None:
            return self._pointed_at(str(place), tag, point)
        if box is None:
            return ShowsNot(str(place), tag)
        edges = _edges(box)
        require_inside(edges, self.bags.size(str(place)), self.album.title(place))
        return Shows(str(place), tag, edges)

    def _pointed_at(self, photo: str, label: str, point: Sequence[float]) -> Shows:
        places = Places.of(self.bags.bag(photo), self.found.of(label), self.model)
        x, y = _numbers(point, 2, "no point", "two numbers, x y", "give it in pixels.")
        return pointed_at(places, photo, label, (x, y), self.found.box(photo, label))


def moved_boxes(before: Taught, after: Taught, spoken_of: Shows | ShowsNot) -> list[MovedBox]:
    """What is elsewhere, has come or has gone, in the order of the photos, but for the thing that was spoken of."""
    moved = moves(before.found, after.found, [(spoken_of.photo, spoken_of.label)])
    return [one._replace(photo=before.album.names[int(one.photo)]) for one in moved]


def _listed(given: Mapping[str, bool]) -> str:
    """What was given, in words."""
    return " and ".join(name for name, is_given in given.items() if is_given) or "no box"


def _edges(box: Sequence[float]) -> Box:
    x0, y0, x1, y1 = _numbers(box, 4, "no box", "four numbers, x0 y0 x1 y1", "give its edges in pixels.")
    return (x0, y0, x1, y1)


def _numbers(given: Sequence[float], count: int, *words: str) -> list[float]:
    """So many numbers; anything else is refused with what it is not, what was expected and what to do."""
    wrong, expected, remedy = words
    try:
        numbers = [float(each) for each in given]
    except (TypeError, ValueError) as error:
        raise RunError(f"{given!r} is {wrong}.", expected, remedy) from error
    if len(numbers) != count:
        raise RunError(f"{given!r} is {wrong}.", expected, remedy)
    return numbers
