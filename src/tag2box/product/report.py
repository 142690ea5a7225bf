"""The page that a run leaves: what was found, what deserves a look, and how EM got there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tag2box.boxes import Box, Size
from tag2box.data import FoundBox, LabelledPhotos
from tag2box.data.formats.coco import BOXES_NAME
from tag2box.extract import open_pixels
from tag2box.extract.photos import Pixels
from tag2box.product.events import Advanced, Began, Ended, Listener, silent
from tag2box.product.finding import Found, PhotoBox
from tag2box.product.learning import LearnedClass
from tag2box.product.verdicts import Verdict
from tag2box.viz import NEUTRAL, RIGHT, STEP, DrawnBox, PagePhoto, PageSection, write_page
from tag2box.words import counted

FILM_LENGTH = 5
"""Pictures of EM at work, for each class."""
PHOTOS_SHOWN = 600
"""About so many photos are on the page; each class has an equal share of them."""
FEWEST_SHOWN, MOST_SHOWN = 6, 60
"""Photos of a class on the page, whatever its share."""


class _Album(NamedTuple):
    """What the page has to know of the photos."""

    paths: Mapping[str, Path]
    sizes: Mapping[str, Size]
    further: Mapping[tuple[str, str], Sequence[FoundBox]]
    """Photo and label → boxes after the first"""
    watched: Collection[tuple[str, str]]
    """Photo and label of the boxes that deserve a look"""

    def photo(self, name: str, boxes: Sequence[DrawnBox], caption: str) -> PagePhoto:
        """A photo for the page."""
        return PagePhoto(self.paths[name], *self.sizes[name], tuple(boxes), caption)


def write_report(
    path: Path,
    found: Found,
    labelled: LabelledPhotos,
    paths: Mapping[str, Path],
    look: Sequence[PhotoBox],
    listen: Listener = silent,
) -> None:
    """Write a page with the most doubtful photos of each class, and for each class the story of its EM."""
    sizes = {photo.name: photo.size for photo in labelled.photos}
    album = _Album(paths, sizes, _further(labelled), {(each.photo, each.box.label) for each in look})
    most = photos_shown(len(found.learned))
    verdicts = found.verdicts()
    classes = [_class_section(album, one, verdicts[one.label], most) for one in found.learned]
    boxes = sum(len(one.boxes) for one in found.learned)
    words = (
        f"{counted(len(found.learned), 'kind of thing', 'kinds of thing')} in {counted(len(sizes), 'photo')}, "
        f"found from tags alone. {_safe(boxes - len(look))}, {_doubtful(len(look))}. "
        "Under each photo stands how likely its box is right. Click on a photo to see it large."
    )
    sections = [*_suspects(album, found.suspects(), most), *classes]
    opened, total = count(1), len(shown_photos(found))

    def opening(photo: Path, longest: int) -> Pixels:
        listen(Advanced("report", next(opened), total))
        return open_pixels(photo, longest)

    listen(Began("report", total))
    write_page(path, "tag2box: tags in, boxes out", words, sections, opening)
    listen(Ended("report"))


def photos_shown(classes: int) -> int:
    """Most photos of a class on the page of so many classes."""
    return min(max(PHOTOS_SHOWN // max(classes, 1), FEWEST_SHOWN), MOST_SHOWN)


def shown_photos(found: Found) -> set[str]:
    """The photos that are on the page, each of which is opened once."""
    most = photos_shown(len(found.learned))
    names = {each.photo for each in found.suspects()[:most]}
    for one in found.learned:
        names |= {one.photos[place] for place in [*_most_doubtful(one, most), _surest(one)]}
    return names


def _most_doubtful(one: LearnedClass, most: int) -> list[int]:
    return np.argsort([-box.doubt for box in one.boxes], kind="stable")[:most].tolist()


def _surest(one: LearnedClass) -> int:
    return int(np.argmin([box.doubt for box in one.boxes]))


def _safe(boxes: int) -> str:
    return f"{counted(boxes, 'box')} {'looks' if boxes == 1 else 'look'} safe (green)"


def _doubtful(boxes: int) -> str:
    deserve = "deserves" if boxes == 1 else "deserve"
    return f"{boxes:,} {deserve} a look (yellow and dashed; the most doubtful come first)"


def _further(labelled: LabelledPhotos) -> dict[tuple[str, str], list[FoundBox]]:
    """What was found beside the one box of each tag."""
    boxes: dict[tuple[str, str], list[FoundBox]] = {}
    for photo in labelled.photos:
        for box in photo.boxes:
            boxes.setdefault((photo.name, box.label), []).append(box)
    return {key: several[1:] for key, several in boxes.items() if len(several) > 1}


def _suspects(album: _Album, suspects: Sequence[PhotoBox], most: int) -> list[PageSection]:
    if not suspects:
        return []
    shown = (
        album.photo(each.photo, (), f"{each.box.label}? {each.box.absence:.0%} likely not there · {each.photo}")
        for each in suspects[:most]
    )
    words = "In these photos the thing is probably not to be seen."
    return [PageSection("Is the tag right?", words, shown, rest=_rest(len(suspects) - most))]


def _class_section(album: _Album, one: LearnedClass, verdict: Verdict, most: int) -> PageSection:
    words = (
        f"{verdict.words} "
        f"{counted(len(one.photos), 'photo')}; about {one.expected_right:.0f} of the boxes are expected to be right. "
        "The small pictures show EM at work on the surest photo: its box after some of the steps."
    )
    photos = _class_photos(album, one, most)
    return PageSection(one.label, words, photos, _film(album, one), _rest(len(one.photos) - most))


def _rest(hidden: int) -> str:
    """Where to find what is not on the page."""
    if hidden <= 0:
        return ""
    which = "1 more, less doubtful, is" if hidden == 1 else f"{hidden:,} more, all less doubtful, are"
    return f"{which} not shown here; all boxes are in {BOXES_NAME}, beside this page."


def _class_photos(album: _Album, one: LearnedClass, most: int) -> Iterator[PagePhoto]:
    """The most doubtful photos of a class, made one by one."""
    for place in _most_doubtful(one, most):
        photo, box = one.photos[place], one.boxes[place]
        colour = NEUTRAL if (photo, one.label) in album.watched else RIGHT
        more = album.further.get((photo, one.label), ())
        boxes = [_drawn(box.box, one.label, colour), *(_drawn(each.box, "", NEUTRAL) for each in more)]
        yield album.photo(photo, boxes, f"{1.0 - box.doubt:.0%} · {photo}")


def _film(album: _Album, one: LearnedClass) -> Iterator[PagePhoto]:
    """The surest photo with its best region at some EM steps, the first and the last among them."""
    place = _surest(one)
    for step in np.unique(np.linspace(0, len(one.film) - 1, FILM_LENGTH).round().astype(int)).tolist():
        box = DrawnBox(one.film[step, place], f"step {step}", STEP)
        yield album.photo(one.photos[place], [box], f"EM step {step}")


def _drawn(box: Box, words: str, colour: str) -> DrawnBox:
    return DrawnBox(np.array(box, dtype=np.float32), words, colour)
