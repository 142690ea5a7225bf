"""What happens, as numbered events for a page; one that comes back is told what it missed, or to load everything."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import deque
from collections.abc import AsyncIterator
from threading import Lock
from typing import Any, NamedTuple, final

KEPT = 2000
"""Events that are remembered for pages that come back."""
SILENCE = 15.0
"""Seconds after which a line is sent that means nothing, to find out that nobody is there."""


class _Reader(NamedTuple):
    """A stream that waits for news."""

    loop: asyncio.AbstractEventLoop
    news: asyncio.Event


@final
class Events:
    """A log that any thread may add to, and any number of pages may follow."""

    def __init__(self) -> None:
        """A new log has a name of its own: numbers of another one mean nothing here."""
        self.name = secrets.token_hex(4)
        self._told: deque[str] = deque(maxlen=KEPT)
        self._count = 0
        self._lock = Lock()
        self._readers: set[_Reader] = set()
        self._closed = False

    @property
    def mark(self) -> str:
        """Where the log ends now: who follows from here misses nothing."""
        return f"{self.name}.{self._count}"

    def tell(self, kind: str, body: Any) -> None:
        """Add an event."""
        with self._lock:
            self._count += 1
            self._told.append(_event(self.mark, kind, body))
        self._wake()

    def close(self) -> None:
        """Let all streams end."""
        self._closed = True
        self._wake()

    def since(self, mark: str) -> tuple[list[str], str]:
        """What was told after a mark, and the next mark; ``reload`` if that is not known any more."""
        with self._lock:
            name, _, number = mark.partition(".")
            first = self._count - len(self._told)
            known = name == self.name and number.isdecimal() and first <= int(number) <= self._count
            told = list(self._told)[int(number) - first :] if known else [_event(self.mark, "reload", {})]
            return told, self.mark

    async def follow(self, mark: str) -> AsyncIterator[str]:
        """The stream for one page, which ends when the log is closed."""
        reader = _Reader(asyncio.get_running_loop(), asyncio.Event())
        self._readers.add(reader)
        yield "retry: 1000\n\n"
        try:
            while not self._closed:
                reader.news.clear()
                told, mark = self.since(mark)
                for one in told:
                    yield one
                try:
                    await asyncio.wait_for(reader.news.wait(), SILENCE)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._readers.discard(reader)

    def _wake(self) -> None:
        for reader in list(self._readers):
            try:
                reader.loop.call_soon_threadsafe(reader.news.set)
            except RuntimeError:  # its loop is closed
                self._readers.discard(reader)


def _event(mark: str, kind: str, body: Any) -> str:
    return f"id: {mark}\nevent: {kind}\ndata: {json.dumps(body)}\n\n"
