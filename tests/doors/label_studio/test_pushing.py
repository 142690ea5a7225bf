"""Boxes go into a project once, to the right tasks, with its own names; whatever is wrong is said before."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from fake_label_studio import CONFIG, LEGACY, PERSONAL, FakeLabelStudio, serving
from in_process import run_here
from tag2box.data import FoundBox, LabelledPhoto, LabelledPhotos
from tag2box.data.formats.coco import write_boxes
from tag2box.doors.label_studio import LabelStudio, push, server
from tag2box.doors.label_studio.pushing import version_of
from tag2box.errors import DoorError

RED, GREEN = FoundBox("red", (8, 12, 40, 60), 0.9, 0.25), FoundBox("green", (0, 0, 16, 12), 0.5, 0.5)
PHOTOS = (
    LabelledPhoto("red/a.jpg", 120, 160, (RED, GREEN)),
    LabelledPhoto("red/b.jpg", 120, 160, (RED,)),
    LabelledPhoto("_none/c.jpg", 120, 160, ()),
)
REFERENCES = [
    "/data/upload/1/0a1b2c3d-b.jpg",
    "/data/local-files/?d=photos/red/a.jpg",
    "/data/upload/1/0a1b2c3d-c.jpg",
    "/data/upload/1/0a1b2c3d-stranger.jpg",
]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def labelled() -> LabelledPhotos:
    return LabelledPhotos(Path("photos"), ("red", "green"), PHOTOS)


@pytest.fixture
def fake() -> Iterator[FakeLabelStudio]:
    with serving(FakeLabelStudio(list(REFERENCES))) as fake:
        yield fake


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Label Studio's models are of another pydantic
def test_each_task_gets_the_boxes_of_its_photo_in_the_words_of_the_project(
    labelled: LabelledPhotos, fake: FakeLabelStudio
) -> None:
    pushed = push(labelled, LabelStudio(fake.url, PERSONAL), 1)
    assert pushed == (2, 0, 1, 0, 1)
    assert {one["task"]: len(one["result"]) for one in fake.predictions} == {1: 1, 2: 2}
    theirs = import_module("label_studio_sdk.label_interface").LabelInterface(CONFIG)
    for prediction in fake.predictions:
        assert theirs.validate_prediction(prediction, return_errors=True) == []
        assert prediction["model_version"] == version_of(labelled)
    assert fake.predictions[1]["score"] == 0.5


def test_nothing_is_sent_twice_and_other_boxes_are_sent(labelled: LabelledPhotos, fake: FakeLabelStudio) -> None:
    push(labelled, LabelStudio(fake.url, PERSONAL), 1)
    assert push(labelled, LabelStudio(fake.url, PERSONAL), 1) == (0, 2, 1, 0, 1)
    assert len(fake.predictions) == 2
    moved = replace(PHOTOS[1], boxes=(replace(RED, box=(9, 12, 40, 60)),))
    again = replace(labelled, photos=(PHOTOS[0], moved, PHOTOS[2]))
    assert push(again, LabelStudio(fake.url, PERSONAL), 1).sent == 2


def test_tasks_are_asked_for_page_by_page(
    labelled: LabelledPhotos, fake: FakeLabelStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PAGE", 3)
    assert push(labelled, LabelStudio(fake.url, PERSONAL), 1) == (2, 0, 1, 0, 1)
    assert sum("/api/tasks/" in path for _, path, _ in fake.requests) == 2


def test_a_photo_that_two_tasks_could_be_is_left_alone(labelled: LabelledPhotos, fake: FakeLabelStudio) -> None:
    fake.references += ["/data/upload/1/9a1b2c3d-b.jpg", "/data/local-files/?d=other/a.jpg"]
    assert push(labelled, LabelStudio(fake.url, PERSONAL), 1) == (1, 0, 1, 3, 1)
    assert [one["task"] for one in fake.predictions] == [2]  # shares more of the path than the sixth


def test_a_personal_token_is_changed_for_access_and_again_when_that_is_old(
    labelled: LabelledPhotos, fake: FakeLabelStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = LabelStudio(fake.url, PERSONAL)
    push(labelled, client, 1)
    assert fake.access == 1
    assert {authorization for _, path, authorization in fake.requests if "token" not in path} == {"Bearer access-1"}
    client._asked -= server.ACCESS_SECONDS
    push(labelled, client, 1)
    assert fake.access == 2


def test_an_old_token_is_access_itself_where_it_is_allowed(labelled: LabelledPhotos, fake: FakeLabelStudio) -> None:
    with pytest.raises(DoorError, match="does not take the token") as refused:
        push(labelled, LabelStudio(fake.url, LEGACY), 1)
    assert LEGACY not in str(refused.value)
    assert "legacy" in refused.value.remedy
    fake.legacy_allowed = True
    assert push(labelled, LabelStudio(fake.url, LEGACY), 1).sent == 2


def test_a_wrong_personal_token_is_told_and_not_shown(labelled: LabelledPhotos, fake: FakeLabelStudio) -> None:
    with pytest.raises(DoorError, match="does not take the token") as refused:
        push(labelled, LabelStudio(fake.url, "a.b.secret"), 1)
    assert "secret" not in str(refused.value)


def test_labels_that_the_project_lacks_are_named_before_anything_is_sent(
    labelled: LabelledPhotos, fake: FakeLabelStudio
) -> None:
    fake.config = CONFIG.replace('<Label value="green"/>', "")
    with pytest.raises(DoorError, match=r"no label 'green'\.") as refused:
        push(labelled, LabelStudio(fake.url, PERSONAL), 1)
    assert "'red'" in refused.value.expected
    assert fake.predictions == []


@pytest.mark.parametrize(
    ("changes", "project", "words"),
    [
        ({"forbidden": True}, 1, "does not let this user at project 1"),
        ({}, 2, "no such thing: project 2"),
        ({"references": REFERENCES[3:]}, 1, "none of the 1 tasks of project 1 has a photo of the run"),
        ({"config": "<View/>"}, 1, "project 1 has no rectangles"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(
    labelled: LabelledPhotos, fake: FakeLabelStudio, changes: dict[str, object], project: int, words: str
) -> None:
    for name, value in changes.items():
        setattr(fake, name, value)
    with pytest.raises(DoorError, match=words):
        push(labelled, LabelStudio(fake.url, PERSONAL), project)
    assert fake.predictions == []


def test_an_address_where_nobody_answers(labelled: LabelledPhotos) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(DoorError, match=f"nobody answers at {url}"):
            push(labelled, LabelStudio(url, LEGACY), 1)


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://localhost", "http://", "http://me:secret@localhost"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(DoorError, match="is no address") as refused:
        LabelStudio(url, LEGACY)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("token", ["", " ", "a\nb", "é"])
def test_a_token_that_is_none(token: str) -> None:
    with pytest.raises(DoorError, match="no usable token"):
        LabelStudio("http://localhost", token)


def test_the_token_follows_nobody_to_another_address(labelled: LabelledPhotos, fake: FakeLabelStudio) -> None:
    with serving(FakeLabelStudio([])) as other:
        answer = fake.answer
        fake.legacy_allowed = True

        def sends_on(method: str, path: str, authorization: str, body: object) -> tuple[int, object]:
            return (302, {"Location": other.url}) if "projects" in path else answer(method, path, authorization, body)

        fake.answer = sends_on  # type: ignore[method-assign]
        with pytest.raises(DoorError, match="does not speak as Label Studio does"):
            push(labelled, LabelStudio(fake.url, LEGACY), 1)
        assert other.requests == []


def test_the_command_says_what_became_of_the_tasks(
    labelled: LabelledPhotos, fake: FakeLabelStudio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_boxes(tmp_path / "boxes.json", labelled, {})
    done = run_here("labelstudio", "push", tmp_path, "--url", fake.url + "/", "--project", "1", "--token", PERSONAL)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-3:] == [
        "2 tasks of project 1 got boxes.",
        "  1 task left alone, without a box to show.",
        "  1 task left alone, with photos that are not in the run.",
    ]
    monkeypatch.setenv("LABEL_STUDIO_URL", fake.url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", PERSONAL)
    done = run_here("labelstudio", "push", tmp_path, "--project", "1")
    assert "  2 tasks had these boxes already." in done.stdout.splitlines()
    assert PERSONAL not in run_here("labelstudio", "push", "--help").stdout
    done = run_here("labelstudio", "push", tmp_path, "--project", "9")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such thing: project 9" in done.stderr
    assert PERSONAL not in done.stderr
