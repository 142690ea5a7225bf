"""The log of events: nothing is missed, whoever comes back."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from threading import Thread

import pytest

from tag2box.web import events as logs
from tag2box.web.events import Events


def bodies(texts: list[str]) -> list[int]:
    return [json.loads(text.split("data: ")[1]) for text in texts if "event: n" in text]


def test_who_comes_back_is_told_what_was_missed() -> None:
    log = Events()
    log.tell("n", 1)
    mark = log.mark
    assert log.since(mark) == ([], mark)
    log.tell("n", 2)
    log.tell("n", 3)
    told, end = log.since(mark)
    assert bodies(told) == [2, 3]
    assert end == log.mark
    assert told[0].startswith(f"id: {log.name}.2\nevent: n\ndata: 2\n\n")


@pytest.mark.parametrize("mark", ["", "nonsense", "other.1", "other", ".", "{}.99", "{}.-1", "{}.x"])
def test_who_knows_another_log_is_told_to_load_everything(mark: str) -> None:
    log = Events()
    log.tell("n", 1)
    told, end = log.since(mark.replace("{}", log.name))
    assert len(told) == 1
    assert "event: reload" in told[0]
    assert log.since(end) == ([], end)


def test_what_is_too_old_is_forgotten_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "KEPT", 3)
    log = Events()
    start = log.mark
    for number in range(3):
        log.tell("n", number)
    assert bodies(log.since(start)[0]) == [0, 1, 2]
    log.tell("n", 3)
    assert "event: reload" in log.since(start)[0][0]


def test_a_stream_hears_other_threads_and_ends_when_it_is_left() -> None:
    log = Events()

    async def follow() -> list[int]:
        stream = log.follow(log.mark)
        assert await anext(stream) == "retry: 1000\n\n"
        heard: list[int] = []
        teller = Thread(target=lambda: list(map(partial(log.tell, "n"), range(50))))
        teller.start()
        while len(heard) < 50:
            heard += bodies([await asyncio.wait_for(anext(stream), 5)])
        teller.join()
        await stream.aclose()  # type: ignore[attr-defined]
        return heard

    assert asyncio.run(follow()) == list(range(50))
    assert log._readers == set()


def test_a_silent_stream_says_that_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "SILENCE", 0.01)
    log = Events()

    async def listen() -> list[str]:
        stream = log.follow(log.mark)
        return [await anext(stream), await anext(stream)]

    assert asyncio.run(listen())[1] == ": still here\n\n"


def test_streams_end_when_the_log_is_closed() -> None:
    log = Events()

    async def listen() -> list[str]:
        loop = asyncio.get_running_loop()
        loop.call_later(0.05, log.close)
        return [text async for text in log.follow(log.mark)]

    assert asyncio.run(asyncio.wait_for(listen(), 5)) == ["retry: 1000\n\n"]
