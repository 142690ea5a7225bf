"""The thread that works, what a page is shown, and what is kept beside the corrections."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from planted_studio import open_planted, settle
from tag2box.errors import RunError
from tag2box.product.corrections import ShowsNot, Tag
from tag2box.product.events import Advanced, Began, Moved
from tag2box.product.finding import Found
from tag2box.web.bodies import Word
from tag2box.web.events import Events
from tag2box.web.keepsakes import COLOURS, KEEPSAKES_NAME, Keepsakes
from tag2box.web.progress import Progress
from tag2box.web.state import moved_boxes, photo_id
from tag2box.web.studio import BUG, Studio
from tag2box.web.worker import Worker


def test_what_people_say_goes_before_long_work() -> None:
    order: list[str] = []
    begun = threading.Semaphore(0)

    def long_work() -> bool:
        if "end" in order:
            return False
        begun.release()
        while not worker.wanted:
            time.sleep(0.001)
        order.append("stopped")
        return True

    worker = Worker(long_work)
    worker.start()
    assert begun.acquire(timeout=5)
    assert worker.do(lambda: order.append("said")).result(5) is None
    assert begun.acquire(timeout=5)  # it goes on
    worker.do(lambda: order.append("end")).result(5)
    worker.end(5)
    assert order == ["stopped", "said", "stopped", "end"]


def test_a_job_that_fails_tells_who_asked_and_the_next_is_done() -> None:
    worker = Worker(lambda: False)
    worker.start()
    with pytest.raises(ZeroDivisionError):
        worker.do(lambda: 1 // 0).result(5)
    assert worker.do(lambda: 7).result(5) == 7
    worker.end(5)
    with pytest.raises(RunError, match="is ending"):
        worker.do(lambda: 7).result(5)


def test_a_correction_stops_the_search_is_kept_and_the_search_goes_on(studio: Studio) -> None:
    """The word is on the disk although EM never got to its end in between."""
    key = photo_id("pen/5.png")
    studio.do(studio.find).result(5)
    number = studio.do(lambda: studio.say(Word(key, "pen", "shows not"))).result(5)
    assert number == 1
    assert studio.run.journal.said()[0].what == ShowsNot("pen/5.png", "pen")
    assert studio.snapshot.photos[key]["absent"] == ["pen"]  # shown at once
    settle(studio)
    found = studio.run.found
    assert found is not None
    assert "pen" in found.left_out


def test_a_bug_is_said_and_loses_nothing(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> Found:
        raise ZeroDivisionError

    monkeypatch.setattr(studio.run, "find", broken)
    studio.do(lambda: studio.say(Word(photo_id("pen/5.png"), "mug", "tag", None, None))).result(5)
    settle(studio)
    assert studio.trouble == BUG
    assert studio.run.journal.said()[0].what == Tag("pen/5.png", "mug")
    assert not studio.busy


def test_a_full_disk_is_said_and_what_was_not_kept_is_not_shown(
    client: TestClient, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    key = photo_id("pen/5.png")
    monkeypatch.setattr(studio.run, "correct_together", full)
    answer = client.post("/correct", json={"photo": key, "label": "pen", "kind": "shows not"})
    assert answer.status_code == 507
    assert answer.json()["error"] == "the disk refuses: No space left on device."
    assert studio.snapshot.photos[key]["absent"] == []
    monkeypatch.setattr(studio.run, "find", full)
    studio.do(studio.find).result(5)
    settle(studio)
    assert studio.trouble.startswith("The disk refuses: No space left on device.")


def test_a_photo_that_cannot_be_read_is_marked_and_the_others_found(photos: Path, tmp_path: Path) -> None:
    (photos / "thing" / "9.png").write_bytes(b"no picture")
    studio = open_planted(photos, tmp_path / "run")
    studio.start()
    settle(studio)
    studio.close()
    assert studio.trouble == ""
    assert {one["name"] for one in studio.snapshot.photos.values() if not one["readable"]} == {"thing/9.png"}
    assert studio.snapshot.counts["boxes"] == 7


def found_in(studio: Studio) -> Found:
    assert studio.run.found is not None
    return studio.run.found


def test_moved_means_elsewhere_and_not_touched(studio: Studio) -> None:
    found = found_in(studio)
    assert moved_boxes(None, found, ()) == []
    assert moved_boxes(found, found, ()) == []
    studio.do(lambda: studio.run.correct(ShowsNot("thing/0.png", "thing"))).result()
    again = studio.do(lambda: studio.run.find()).result()
    assert ("thing/0.png", "thing") not in moved_boxes(found, again, ())


@given(st.lists(st.text(min_size=1, max_size=5), max_size=40, unique=True), st.data())
def test_a_class_keeps_its_colour_whatever_comes(labels: list[str], data: st.DataObject) -> None:
    some = data.draw(st.lists(st.sampled_from(labels), unique=True)) if labels else []
    first = Keepsakes().with_colours_of(some)
    then = first.with_colours_of(labels)
    assert {label: then.colours[label] for label in some} == first.colours
    assert set(then.colours) == set(labels)
    if len(labels) <= len(COLOURS):
        assert len(set(then.colours.values())) == len(labels)


def test_keepsakes_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert Keepsakes.read(tmp_path) == Keepsakes()
    kept = Keepsakes().with_colours_of(["mug"]).titled("a", "IMG é.jpg").found_from("mug", 0.7)
    kept.write(tmp_path)
    assert Keepsakes.read(tmp_path) == kept
    assert (kept.min_score("mug"), kept.min_score("pen")) == (0.7, 0.5)
    (tmp_path / KEEPSAKES_NAME).write_text('{"colours": []}')
    with pytest.raises(RunError, match="cannot be read"):
        Keepsakes.read(tmp_path)


def test_the_time_that_is_left_counts_what_is_done_now_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("tag2box.web.progress.time.monotonic", lambda: clock[0])
    progress = Progress(Events())
    progress.hear(Began("extract", 100), {})
    for done in (91, 92, 93):  # 90 were done yesterday
        clock[0] += 2.0
        progress.hear(Advanced("extract", done, 100), {})
    assert progress.now == {"title": "Looking at photos", "done": 93, "total": 100, "left": 14.0}
    progress.end()
    assert progress.now is None


def test_of_a_step_of_em_only_boxes_that_moved_are_told() -> None:
    log = Events()
    progress, mark = Progress(log), log.mark
    first = np.array([[0, 0, 4, 4], [1, 1, 5, 5]], dtype=np.float32)
    second = first.copy()
    second[1] = [2, 2, 6, 6]
    for step, boxes in enumerate((first, second)):
        progress.hear(Moved("mug", step, -1.0, boxes), {"mug": ["a", "b"]})
    told = log.since(mark)[0]
    assert '"boxes": {"a": [0.0, 0.0, 4.0, 4.0], "b": [1.0, 1.0, 5.0, 5.0]}' in told[0]
    assert '"boxes": {"b": [2.0, 2.0, 6.0, 6.0]}' in told[1]
