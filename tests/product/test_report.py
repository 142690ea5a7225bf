"""The report of a run: which photos are on it, what it says, and what it reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from learned_by_hand import class_by_hand
from tag2box.data import FoundBox, LabelledPhoto, LabelledPhotos
from tag2box.product import report
from tag2box.product.events import Advanced, Began
from tag2box.product.finding import Found, PhotoBox
from tag2box.product.learning import LearnedClass, Lesson
from tag2box.product.report import photos_shown, shown_photos, write_report
from tag2box.viz import NEUTRAL, RIGHT


def found(**doubts: Sequence[float]) -> Found:
    """Photo number i has every tag that has more than i doubts."""
    names = [f"{i}.jpg" for i in range(max(map(len, doubts.values())))]
    tags = {name: frozenset(label for label, some in doubts.items() if i < len(some)) for i, name in enumerate(names)}
    return Found(tags, tuple(learned(label, some, names) for label, some in doubts.items()), ())


def learned(label: str, doubts: Sequence[float], names: Sequence[str], absence: float = 0.0) -> LearnedClass:
    """A class after six steps of EM."""
    boxes = tuple(FoundBox(label, (20.0, 20.0, 80.0, 80.0), 0.9, float(doubt), absence) for doubt in doubts)
    return class_by_hand(Lesson(label, tuple(names[: len(doubts)])), boxes, steps=7)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the photos that were opened, one after the other."""
    names: list[str] = []

    def open_pixels(path: Path, longest: int) -> np.ndarray:
        names.append(path.name)
        return np.zeros((longest, longest, 3), dtype=np.uint8)

    monkeypatch.setattr(report, "open_pixels", open_pixels)
    return names


def page_of(folder: Path, localized: Found, look: Sequence[PhotoBox] = (), *further: LabelledPhoto) -> str:
    others = [
        LabelledPhoto(name, 100, 100, ()) for name in localized.tags if name not in {each.name for each in further}
    ]
    labelled = LabelledPhotos(folder, localized.classes, (*others, *further))
    write_report(folder / "report.html", localized, labelled, {name: Path(name) for name in localized.tags}, look)
    return unescape((folder / "report.html").read_text(encoding="utf-8"))


def captions(page: str) -> list[str]:
    return re.findall(r"<figcaption[^>]*>(.*?)</figcaption>", page)


def test_the_most_doubtful_photos_come_first_and_the_film_before_them(tmp_path: Path, opened: list[str]) -> None:
    page = page_of(tmp_path, found(mug=[0.1, 0.7, 0.4]))
    assert captions(page) == [
        *(f"EM step {step}" for step in (0, 2, 3, 4, 6)), "30% · 1.jpg", "60% · 2.jpg", "90% · 0.jpg"
    ]  # fmt: skip
    assert page.index("class='film'") < page.index("class='photos'")
    assert "not shown" not in page


def test_of_many_photos_the_most_doubtful_are_shown_and_the_others_counted(tmp_path: Path, opened: list[str]) -> None:
    localized = found(mug=(np.arange(200) / 200).tolist(), pen=[0.5] * 61)
    page = page_of(tmp_path, localized)
    shown = [caption for caption in captions(page) if "step" not in caption]
    assert shown[:60] == [f"{1 - i / 200:.0%} · {i}.jpg" for i in range(199, 139, -1)]
    assert len(shown) == 60 + 60
    assert "140 more, all less doubtful, are not shown here; all boxes are in boxes.json" in page
    assert "1 more, less doubtful, is not shown here; all boxes are in boxes.json" in page
    assert len(opened) == len(set(opened)) == 60 + 60


@pytest.mark.parametrize(("classes", "most"), [(0, 60), (1, 60), (10, 60), (20, 30), (100, 6), (5000, 6)])
def test_many_classes_share_the_page(classes: int, most: int) -> None:
    assert photos_shown(classes) == most


def test_wrong_tags_are_capped_too(tmp_path: Path, opened: list[str]) -> None:
    plain = found(mug=[0.1] * 100)
    localized = Found(plain.tags, (learned("mug", [0.1] * 100, list(plain.tags), absence=0.9),), ())
    page = page_of(tmp_path, localized)
    assert page.count("mug? 90% likely not there") == 2 * 60 + 60  # caption, its title and the button's name
    assert page.count("40 more, all less doubtful, are not shown") == 2  # of the tag and of the class


def test_a_photo_with_several_tags_is_opened_once(tmp_path: Path, opened: list[str]) -> None:
    page_of(tmp_path, found(mug=[0.1, 0.2], pen=[0.3, 0.1], cup=[0.9, 0.9]))
    assert sorted(opened) == ["0.jpg", "1.jpg"]


def test_a_listener_hears_of_every_photo_that_is_opened(tmp_path: Path, opened: list[str]) -> None:
    localized, heard = found(mug=[0.1] * 70, pen=[0.3, 0.1]), list[object]()
    labelled = LabelledPhotos(
        tmp_path, localized.classes, tuple(LabelledPhoto(n, 100, 100, ()) for n in localized.tags)
    )
    paths = {name: Path(name) for name in localized.tags}
    write_report(tmp_path / "report.html", localized, labelled, paths, [], heard.append)
    assert [event.done for event in heard if isinstance(event, Advanced)] == list(range(1, len(opened) + 1))
    assert heard[0] == Began("report", len(opened))
    assert shown_photos(localized) == set(opened)


def test_one_is_said_as_one(tmp_path: Path, opened: list[str]) -> None:
    localized = found(mug=[0.1])
    page = page_of(tmp_path, localized)
    assert "1 kind of thing in 1 photo, found from tags alone. 1 box looks safe (green), 0 deserve a look" in page
    assert "<p>Found. 1 photo; about 1" in page
    page = page_of(tmp_path, localized, localized.by_doubt())
    assert "0 boxes look safe (green), 1 deserves a look" in page
    page = page_of(tmp_path, found(mug=[0.1] * 1200, pen=[0.2]))
    assert "2 kinds of thing in 1,200 photos" in page
    assert "<p>Found. 1,200 photos; about 1080" in page


def test_what_deserves_a_look_is_marked_and_further_things_are_drawn(tmp_path: Path, opened: list[str]) -> None:
    localized = found(mug=[0.9, 0.1])
    first, second = (FoundBox("mug", (0, 0, 50, edge), 0.5, 0.5) for edge in (50, 25))
    page = page_of(tmp_path, localized, localized.by_doubt()[:1], LabelledPhoto("1.jpg", 100, 100, (first, second)))
    photos = page[page.index("class='photos'") :]
    assert re.findall(r"class='(box[^']*)'.*?height:(\d+)\.00%;--colour:(#\w+)", photos) == [
        ("box doubtful", "60", NEUTRAL), ("box", "60", RIGHT), ("box doubtful", "25", NEUTRAL)
    ]  # fmt: skip
