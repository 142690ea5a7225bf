"""The table of doubts: what needs a person comes first, in programs, on terminals and in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser

import pytest

from learned_by_hand import class_by_hand
from planted_toys import quarter, toy_detector
from tag2box.data import FoundBox
from tag2box.product.album import Album
from tag2box.product.doubts import SHOWN, Doubt, Doubts
from tag2box.product.finding import Found
from tag2box.product.learning import LearnedClass, Lesson

BOX = (1.0, 2.4, 30.6, 40.0)


def learned(label: str, judged: Sequence[tuple[float, float]]) -> LearnedClass:
    """A class with a doubt and an absence for each photo."""
    boxes = tuple(FoundBox(label, BOX, 0.9, doubt, absence) for doubt, absence in judged)
    lesson = Lesson(label, tuple(str(place) for place in range(len(judged))))
    return class_by_hand(lesson, boxes)


def table(**classes: Sequence[tuple[float, float]]) -> Doubts:
    count = max(map(len, classes.values()))
    tags = {str(place): frozenset(classes) for place in range(count)}
    found = Found(tags, tuple(learned(label, judged) for label, judged in classes.items()), ())
    return Doubts.of(found, Album([f"photos/{place}.jpg" for place in range(count)]))


class Cells(HTMLParser):
    """The words in the cells of a table, and whether all that was opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.cells += [""] if tag == "td" else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.cells[-1] += data


def test_wrong_tags_come_first_then_doubts_and_the_surest_last() -> None:
    found = table(mug=[(0.1, 0.0), (0.95, 0.6), (0.5, 0.1)], pen=[(0.9, 0.2), (0.8, 0.7), (0.0, 0.0)])
    assert [(row.photo, row.label, row.advice) for row in found] == [
        ("photos/1.jpg", "pen", "tag wrong?"),
        ("photos/1.jpg", "mug", "tag wrong?"),
        ("photos/0.jpg", "pen", "look"),
        ("photos/2.jpg", "mug", ""),
        ("photos/0.jpg", "mug", ""),
        ("photos/2.jpg", "pen", ""),
    ]
    assert found[0] == Doubt("photos/1.jpg", "pen", BOX, 0.9, 0.8, 0.7, "tag wrong?")


def test_rows_are_plain_tuples_with_names() -> None:
    found = table(mug=[(0.1, 0.0), (0.2, 0.0)])
    assert list(found) == list(found.rows) == [found[0], found[1]]
    assert len(found) == 2
    assert found[0]._fields == ("photo", "label", "box", "score", "doubt", "suspicion", "advice")


def test_a_terminal_shows_columns() -> None:
    lines = repr(table(mug=[(0.1, 0.0), (0.95, 0.6)])).splitlines()
    assert lines == [
        "2 boxes, 1 for a person to look at",
        "photo  tag  box        score  doubt  suspicion",
        "1.jpg  mug  1 2 31 40  0.90   0.95   0.60       tag wrong?",
        "0.jpg  mug  1 2 31 40  0.90   0.10   0.00",
    ]


def test_a_notebook_shows_a_table_and_takes_no_word_for_markup() -> None:
    shown = table(**{"<b>&": [(0.1, 0.0), (0.9, 0.0)]})._repr_html_()
    parsed = Cells(shown)
    assert parsed.open == []
    assert parsed.cells[:7] == ["1.jpg", "<b>&", "1 2 31 40", "0.90", "0.90", "0.00", "look"]
    assert "<b>" not in shown
    assert shown.count("border-left") == 1


@pytest.mark.parametrize(("photos", "hidden"), [(SHOWN, 0), (SHOWN + 1, 1), (SHOWN + 1200, 1200)])
def test_long_tables_are_cut_where_they_are_shown(photos: int, hidden: int) -> None:
    found = table(mug=[(0.1, 0.0)] * photos)
    words = f"… and {hidden:,} more, less doubtful"
    for shown in (repr(found), found._repr_html_()):
        assert shown.count(".jpg") == SHOWN
        assert (words in shown) == (hidden > 0)
    assert len(found.rows) == photos


def test_a_detector_tells_its_doubts_and_they_lead_to_its_photos(monkeypatch: pytest.MonkeyPatch) -> None:
    detector = toy_detector(monkeypatch)
    for row in detector.doubts():
        assert isinstance(row.photo, int)
        assert detector.localizations_[row.photo][row.label].box == row.box
    first = detector.doubts()[0]
    detector.correct(first.photo, first.label, quarter(1))
    last = detector.doubts()[-1]
    assert (last.photo, last.label, last.box) == (first.photo, first.label, quarter(1))
    assert (last.doubt, last.suspicion, last.advice) == (0.0, 0.0, "")
    assert detector.show(first.photo).size == (80, 60)
