"""What an annotation says: boxes, things that are not there, and nothing twice."""

from __future__ import annotations

from typing import Any

import pytest

from tag2box.doors.label_studio.hearing import corrections_in
from tag2box.errors import DoorError, TagsError
from tag2box.product.corrections import Known, Pointed, Shows, ShowsNot

SIZE = (120, 160)
KNOWN = Known({"a.jpg": frozenset({"red", "green", "other"})})
LABELS = ("red", "green", "blue")


def region(label: str, x: float, y: float, width: float, height: float, **further: Any) -> dict[str, Any]:
    value = {"x": x, "y": y, "width": width, "height": height, "rotation": 0, "rectanglelabels": [label]}
    size = {"original_width": 160, "original_height": 120}
    return {"type": "rectanglelabels", **size, "value": value | further}


def heard(*regions: dict[str, Any], known: Known = KNOWN, **fields: Any) -> list[Any]:
    return corrections_in({"result": list(regions), **fields}, "a.jpg", SIZE, known, LABELS)


def test_a_rectangle_says_where_and_a_missing_one_that_it_is_not_there() -> None:
    """Of what the project has no label for, nobody could say anything."""
    assert heard(region("red", 25, 50, 50, 25)) == [
        Shows("a.jpg", "red", (40.0, 60.0, 120.0, 90.0)),
        ShowsNot("a.jpg", "green"),
    ]


def test_a_thing_that_the_photo_had_no_tag_for_is_there_now() -> None:
    said = heard(region("red", 0, 0, 10, 10), region("green", 0, 0, 10, 10), region("blue", 50, 50, 50, 50))
    assert Shows("a.jpg", "blue", (80.0, 60.0, 160.0, 120.0)) in said
    assert len(said) == 3


def test_of_several_boxes_the_largest_counts_and_it_ends_at_the_edge() -> None:
    said = heard(region("red", 0, 0, 10, 10), region("red", 50, 50, 60, 60), region("red", 0, 0, 20, 10))
    assert said[0] == Shows("a.jpg", "red", (80.0, 60.0, 160.0, 120.0))


def test_what_was_said_before_is_not_said_again() -> None:
    pointed = {"red": {"a.jpg": Pointed((40.0, 60.0, 120.0, 90.0), None, 1)}}
    known = Known({"a.jpg": frozenset({"red"})}, pointed)
    assert heard(region("red", 25, 50, 50, 25.1), known=known) == []
    assert heard(region("red", 25, 50, 50, 27), known=known) == [Shows("a.jpg", "red", (40.0, 60.0, 120.0, 92.4))]


def test_a_skipped_annotation_and_relations_and_choices_say_nothing() -> None:
    assert heard(region("red", 25, 50, 50, 25), was_cancelled=True) == []
    relation, choice = {"type": "relation"}, {"type": "choices", "value": {"choices": ["blue"]}}
    assert heard(relation, choice) == [ShowsNot("a.jpg", "green"), ShowsNot("a.jpg", "red")]


def test_a_photo_of_another_shape_is_another_photo() -> None:
    other = region("red", 25, 50, 50, 25) | {"original_width": 120, "original_height": 160}
    with pytest.raises(DoorError, match="on a photo of 120 x 160 pixels; that of the run has 160 x 120"):
        heard(other)
    larger = region("red", 25, 50, 50, 25) | {"original_width": 1600, "original_height": 1200}
    assert heard(larger)[0] == Shows("a.jpg", "red", (40.0, 60.0, 120.0, 90.0))


@pytest.mark.parametrize(
    "result", [None, [{"value": 3}], [{"value": {"rectanglelabels": ["red"]}}], [region("red", 0, 0, float("nan"), 1)]]
)
def test_what_is_no_annotation_is_refused(result: Any) -> None:
    with pytest.raises(TagsError):
        corrections_in({"result": result}, "a.jpg", SIZE, KNOWN, LABELS)
