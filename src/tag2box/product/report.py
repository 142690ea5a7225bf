"""The page that a run leaves: what was found, what deserves a look, and how EM got there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tag2box.data import LabelledPhotos, TaggedPhoto
from tag2box.extract import open_pixels
from tag2box.product.learning import LearnedClass
from tag2box.product.localizing import Localized, Suspicion
from tag2box.viz import NEUTRAL, RIGHT, WRONG, DrawnBox, PagePhoto, PageSection, write_page

FILM_LENGTH = 5
"""Pictures of EM at work, for each class."""
SUSPECT = 0.5
"""From this chance on a tag is called suspicious."""


def write_report(path: Path, found: Localized, labelled: LabelledPhotos, look: Sequence[Suspicion]) -> None:
    """Write a page with every photo: doubtful ones first, and for each class the story of its EM."""
    watched = {(each.label, each.photo.name) for each in look}
    sections = [*_suspects(found), *(_class_section(found, labelled, one, watched) for one in found.learned)]
    boxes = sum(len(one.bags) for one in found.learned)
    kinds = f"{len(found.learned)} kind{'s' if len(found.learned) != 1 else ''} of thing"
    words = (
        f"{kinds} in {len(found.sizes):,} photos, found from tags alone. {boxes - len(look):,} boxes look safe "
        f"(green), {len(look):,} deserve a look (yellow; the most doubtful come first). Under each photo stands how "
        "likely its box is right."
    )
    write_page(path, "tag2box: tags in, boxes out", words, sections, open_pixels)


def suspects_of(found: Localized) -> list[Suspicion]:
    """Tags that are probably wrong, the likeliest first."""
    return sorted((each for each in found.suspicions() if each.absence >= SUSPECT), key=lambda each: -each.absence)


def _suspects(found: Localized) -> list[PageSection]:
    suspects = suspects_of(found)
    if not suspects:
        return []
    shown = [
        _on_page(found, each.photo, (), f"{each.label}? {each.absence:.0%} likely not there · {each.photo.name}")
        for each in suspects
    ]
    return [PageSection("Is the tag right?", "In these photos the thing is probably not to be seen.", shown)]


def _class_section(
    found: Localized, labelled: LabelledPhotos, one: LearnedClass, watched: set[tuple[str, str]]
) -> PageSection:
    photos = found.photos[one.label]
    further = {photo.name: [box for box in photo.boxes if box.label == one.label][1:] for photo in labelled.photos}
    shown = []
    for place in np.argsort(-one.doubts, kind="stable").tolist():
        photo, box = photos[place], one.box(place)
        colour = NEUTRAL if (one.label, photo.name) in watched else RIGHT
        boxes = [DrawnBox(np.array(box.box, dtype=np.float32), one.label, colour)]
        boxes += [DrawnBox(np.array(more.box, dtype=np.float32), "", NEUTRAL) for more in further[photo.name]]
        shown.append(_on_page(found, photo, boxes, f"{1.0 - box.doubt:.0%} · {photo.name}"))
    expected = float((1.0 - one.doubts).sum())
    words = (
        f"{len(photos)} photos; about {expected:.0f} of the boxes are expected to be right. "
        f"The first pictures show EM at work on the surest photo: its box after each step."
    )
    return PageSection(one.label, words, [*_film(found, one), *shown])


def _film(found: Localized, one: LearnedClass) -> list[PagePhoto]:
    """The surest photo with its best region at some EM steps, the first and the last among them."""
    place = int(np.argmin(one.doubts))
    bag, photo = one.bags[place], found.photos[one.label][place]
    features, background = one.solution.view(bag)
    steps = one.solution.steps
    chosen = np.unique(np.linspace(0, len(steps) - 1, FILM_LENGTH).round().astype(int))
    rows = [int(np.argmax(steps[step].foreground.logits(features) - background)) for step in chosen]
    return [
        _on_page(found, photo, [DrawnBox(bag.boxes[row], f"step {step}", WRONG)], f"EM step {step}")
        for step, row in zip(chosen.tolist(), rows, strict=True)
    ]


def _on_page(found: Localized, photo: TaggedPhoto, boxes: Sequence[DrawnBox], caption: str) -> PagePhoto:
    return PagePhoto(photo.path, *found.sizes[photo.name], tuple(boxes), caption)
