"""Detections can be taken apart: one by its place, several by a slice, places or a mask; they stay ranked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.errors import ShapeError
from tag2box.types import Detection, Detections


def some(count: int) -> Detections:
    boxes = np.array([[n, n, n + 1, n + 2] for n in range(count)], dtype=np.float32).reshape(-1, 4)
    return Detections(
        boxes, 1.0 - np.arange(count) / 10, np.array([f"kind {n % 2}" for n in range(count)], dtype=np.str_)
    )


def test_one_by_its_place() -> None:
    found = some(4)
    assert found[0] == Detection("kind 0", 1.0, (0.0, 0.0, 1.0, 2.0))
    assert found[-1] == list(found)[-1]
    assert found[np.int64(2)] == list(found)[2]
    with pytest.raises(IndexError):
        _ = found[4]


@given(st.integers(0, 9), st.data())
def test_whatever_is_taken_is_what_a_list_would_give(count: int, draw: st.DataObject) -> None:
    found, rows = some(count), list(some(count))
    start, stop = (draw.draw(st.integers(-10, 10)) for _ in range(2))
    assert list(found[start:stop]) == rows[start:stop]
    mask = draw.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    assert list(found[np.array(mask, dtype=bool)]) == [row for row, keep in zip(rows, mask, strict=True) if keep]
    places = draw.draw(st.lists(st.integers(0, count - 1), unique=True)) if count else []
    assert list(found[places]) == [rows[place] for place in sorted(places)]  # the best score first, as always


def test_a_mask_must_be_as_long_as_the_detections() -> None:
    with pytest.raises(ShapeError, match="a mask of detections"):
        _ = some(3)[np.array([True, False])]


def test_taking_some_leaves_the_others_alone() -> None:
    found = some(3)
    assert len(found[found.scores >= 0.9]) == 2
    assert len(found) == 3
    assert list(found.of_class("kind 1")) == list(found[found.labels == "kind 1"])


def test_the_short_form_says_what_is_there() -> None:
    assert repr(some(0)) == "<no detections>"
    assert repr(some(1)) == "<1 detection: kind 0 1.00>"
    assert repr(some(7)).endswith("kind 0 0.60, and 2 more>")
