"""The page that a run leaves: what was found, what deserves a look, and how EM got there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tag2box.data import FoundBox, LabelledPhotos, TaggedPhoto
from tag2box.data.formats.coco import BOXES_NAME
from tag2box.extract import open_pixels
from tag2box.product.learning import LearnedClass
from tag2box.product.localizing import Localized, Suspicion
from tag2box.viz import NEUTRAL, RIGHT, STEP, DrawnBox, PagePhoto, PageSection, write_page
from tag2box.words import counted

FILM_LENGTH = 5
"""Pictures of EM at work, for each class."""
SUSPECT = 0.5
"""From this chance on a tag is called suspicious."""
PHOTOS_SHOWN = 600
"""About so many photos are on the page; each class has an equal share of them."""
FEWEST_SHOWN, MOST_SHOWN = 6, 60
"""Photos of a class on the page, whatever its share."""

Further = dict[tuple[str, str], list[FoundBox]]
"""Photo and label → boxes after the first"""


def write_report(path: Path, found: Localized, labelled: LabelledPhotos, look: Sequence[Suspicion]) -> None:
    """Write a page with the most doubtful photos of each class, and for each class the story of its EM."""
    watched = {(each.label, each.photo.name) for each in look}
    further = _further(labelled)
    most = photos_shown(len(found.learned))
    classes = [_class_section(found, one, watched, further, most) for one in found.learned]
    boxes = sum(len(one.doubts) for one in found.learned)
    words = (
        f"{counted(len(found.learned), 'kind of thing', 'kinds of thing')} in {counted(len(found.sizes), 'photo')}, "
        f"found from tags alone. {_safe(boxes - len(look))}, {_doubtful(len(look))}. "
        "Under each photo stands how likely its box is right. Click on a photo to see it large."
    )
    write_page(path, "tag2box: tags in, boxes out", words, [*_suspects(found, most), *classes], open_pixels)


def photos_shown(classes: int) -> int:
    """Most photos of a class on the page of so many classes."""
    return min(max(PHOTOS_SHOWN // max(classes, 1), FEWEST_SHOWN), MOST_SHOWN)


def suspects_of(found: Localized) -> list[Suspicion]:
    """Tags that are probably wrong, the likeliest first."""
    return sorted((each for each in found.suspicions() if each.absence >= SUSPECT), key=lambda each: -each.absence)


def _safe(boxes: int) -> str:
    return f"{counted(boxes, 'box')} {'looks' if boxes == 1 else 'look'} safe (green)"


def _doubtful(boxes: int) -> str:
    deserve = "deserves" if boxes == 1 else "deserve"
    return f"{boxes:,} {deserve} a look (yellow and dashed; the most doubtful come first)"


def _further(labelled: LabelledPhotos) -> Further:
    """What was found beside the one box of each tag."""
    boxes: Further = {}
    for photo in labelled.photos:
        for box in photo.boxes:
            boxes.setdefault((photo.name, box.label), []).append(box)
    return {key: several[1:] for key, several in boxes.items() if len(several) > 1}


def _suspects(found: Localized, most: int) -> list[PageSection]:
    suspects = suspects_of(found)
    if not suspects:
        return []
    shown = (
        _on_page(found, each.photo, (), f"{each.label}? {each.absence:.0%} likely not there · {each.photo.name}")
        for each in suspects[:most]
    )
    words = "In these photos the thing is probably not to be seen."
    return [PageSection("Is the tag right?", words, shown, rest=_rest(len(suspects) - most))]


def _class_section(
    found: Localized, one: LearnedClass, watched: set[tuple[str, str]], further: Further, most: int
) -> PageSection:
    expected = float((1.0 - one.doubts).sum())
    words = (
        f"{counted(len(one.doubts), 'photo')}; about {expected:.0f} of the boxes are expected to be right. "
        "The small pictures show EM at work on the surest photo: its box after some of the steps."
    )
    photos = _class_photos(found, one, watched, further, most)
    return PageSection(one.label, words, photos, _film(found, one), _rest(len(one.doubts) - most))


def _rest(hidden: int) -> str:
    """Where to find what is not on the page."""
    if hidden <= 0:
        return ""
    which = "1 more, less doubtful, is" if hidden == 1 else f"{hidden:,} more, all less doubtful, are"
    return f"{which} not shown here; all boxes are in {BOXES_NAME}, beside this page."


def _class_photos(
    found: Localized, one: LearnedClass, watched: set[tuple[str, str]], further: Further, most: int
) -> Iterator[PagePhoto]:
    """The most doubtful photos of a class, made one by one."""
    for place in np.argsort(-one.doubts, kind="stable")[:most].tolist():
        photo, box = found.photos[one.label][place], one.box(place)
        colour = NEUTRAL if (one.label, photo.name) in watched else RIGHT
        more = further.get((photo.name, one.label), [])
        boxes = [_drawn(box, one.label, colour), *(_drawn(each, "", NEUTRAL) for each in more)]
        yield _on_page(found, photo, boxes, f"{1.0 - box.doubt:.0%} · {photo.name}")


def _film(found: Localized, one: LearnedClass) -> Iterator[PagePhoto]:
    """The surest photo with its best region at some EM steps, the first and the last among them."""
    place = int(np.argmin(one.doubts))
    bag, photo = one.bags[place], found.photos[one.label][place]
    features, background = one.solution.view(bag)
    steps = one.solution.steps
    for step in np.unique(np.linspace(0, len(steps) - 1, FILM_LENGTH).round().astype(int)).tolist():
        row = int(np.argmax(steps[step].foreground.logits(features) - background))
        yield _on_page(found, photo, [DrawnBox(bag.boxes[row], f"step {step}", STEP)], f"EM step {step}")


def _drawn(box: FoundBox, words: str, colour: str) -> DrawnBox:
    return DrawnBox(np.array(box.box, dtype=np.float32), words, colour)


def _on_page(found: Localized, photo: TaggedPhoto, boxes: Sequence[DrawnBox], caption: str) -> PagePhoto:
    return PagePhoto(photo.path, *found.sizes[photo.name], tuple(boxes), caption)
