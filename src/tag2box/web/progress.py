"""How far a run is, told to pages: the stage with the time that is left, and where EM looks after each step."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from tag2box.arrays import Float32s
from tag2box.product.events import TITLES, Advanced, Began, Ended, Event, Learned, Moved
from tag2box.web.events import Events
from tag2box.web.state import rounded

PAUSE = 0.1
"""Seconds between two events of one stage."""
MOST_WATCHED = 200
"""Photos of a class whose boxes are shown while EM is at work."""


@final
class Progress:
    """Hears what a run tells, and passes on what a person can follow."""

    def __init__(self, events: Events) -> None:
        """Nothing is going on."""
        self.now: dict[str, Any] | None = None
        self._events = events
        self._began = self._told = 0.0
        self._first: int | None = None
        self._boxes: Float32s | None = None

    def hear(self, event: Event, ids: Mapping[str, Sequence[str]]) -> None:
        """Pass an event on; ``ids`` are those of the photos of each class."""
        if isinstance(event, Began):
            self._began, self._first, self._told = time.monotonic(), None, 0.0
        elif isinstance(event, Advanced):
            self._advance(event)
        elif isinstance(event, Moved):
            self._move(event, ids.get(event.label, ()))
        elif isinstance(event, Learned):
            self._events.tell("learned", {"label": event.label, "right": round(event.expected_right, 2)})
        elif isinstance(event, Ended):
            self.end()

    def end(self) -> None:
        """Nothing is going on any more."""
        if self.now is not None:
            self.now = None
            self._events.tell("progress", None)

    def _advance(self, event: Advanced) -> None:
        """Say how far it is; what was done by an earlier run tells nothing of the time that is left."""
        moment = time.monotonic()
        if self._first is None:
            self._first = event.done - 1
        left = (moment - self._began) / max(event.done - self._first, 1) * (event.total - event.done)
        about = {"title": TITLES[event.stage], "done": event.done, "total": event.total, "left": round(left, 1)}
        self.now = about
        if moment - self._told >= PAUSE or event.done == event.total:
            self._told = moment
            self._events.tell("progress", about)

    def _move(self, event: Moved, ids: Sequence[str]) -> None:
        """Say which boxes a step of EM has moved."""
        before = self._boxes if event.step and self._boxes is not None else np.full_like(event.boxes, np.nan)
        self._boxes = event.boxes
        if len(ids) != len(event.boxes) or len(ids) > MOST_WATCHED or before.shape != event.boxes.shape:
            return
        moved = np.flatnonzero((before != event.boxes).any(axis=1)).tolist()
        boxes = {ids[place]: rounded(event.boxes[place]) for place in moved}
        about = {"label": event.label, "step": event.step, "likelihood": event.likelihood, "boxes": boxes}
        self._events.tell("moved", about)
