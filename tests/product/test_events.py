"""What somebody sees who waits in Python: nothing that is soon over, and how long the rest takes."""

from __future__ import annotations

import io
import sys

import pytest

from tag2box.product.events import TITLES, Advanced, Began, Ended, on_terminal


class Terminal(io.StringIO):
    """Somebody looks at it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set by hand."""
    now = [0.0]
    monkeypatch.setattr("tag2box.product.events.time.monotonic", lambda: now[0])
    return now


def heard(clock: list[float], seconds: float) -> None:
    """Ten photos, each of which takes so long."""
    listen = on_terminal()
    listen(Began("extract", 10))
    for done in range(1, 11):
        clock[0] += seconds
        listen(Advanced("extract", done, 10))
    listen(Ended("extract"))


def test_what_takes_long_is_shown_with_the_time_that_is_left(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    heard(clock, 1.0)
    lines = screen.getvalue().split("\r")[1:]
    assert lines[0] == "Looking at photos: 3 of 10, 7 s left "
    assert lines[-1] == "Looking at photos: 10 of 10, 0 s left \n"
    assert len(lines) == 8


def test_what_is_soon_over_is_not(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    heard(clock, 0.1)
    assert screen.getvalue() == ""


def test_nor_anything_where_nobody_looks(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := io.StringIO())
    heard(clock, 1.0)
    assert screen.getvalue() == ""


def test_every_stage_has_a_title() -> None:
    assert set(TITLES) == {"extract", "localize", "report", "export"}
