"""The ML backend by real requests: what it answers, whom it refuses, and that one box drawn mends other photos."""

from __future__ import annotations

import json
import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fake_label_studio import CONFIG
from in_process import run_here
from planted_extractor import planted_world
from tag2box.data import read_tags
from tag2box.doors.label_studio import Backend, backend_server, is_loopback, serving
from tag2box.errors import DoorError, InputError, TagsError
from tag2box.model import Model
from tag2box.product.corrections import Shows, ShowsNot
from tag2box.product.run import Run

RED, GREEN = (250, 0, 0), (0, 250, 0)
LEFT, RIGHT = [0.0, 0.0, 50.0, 50.0], [50.0, 50.0, 50.0, 50.0]
"""Quarters of a photo, in percent."""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Photos that all have a red and a green quarter, and of which one word is said: nobody can tell which is meant."""
    folder = tmp_path / "photos" / "red"
    folder.mkdir(parents=True)
    for number in range(4):
        picture = Image.new("RGB", (80, 60), (20, 20, 20 + number))
        picture.paste(RED, (0, 0, 40, 30))
        picture.paste(GREEN, (40, 30, 80, 60))
        picture.save(folder / f"{number}.png")
    model, _ = planted_world()
    with Run.begin(tmp_path / "run", read_tags(tmp_path / "photos"), model) as run:
        run.extract()
        yield run


Ask = Callable[..., tuple[int, Any]]


@contextmanager
def asking(run: Run, said: list[str] | None = None) -> Iterator[tuple[Ask, Backend]]:
    """A function that sends a request to a backend, and the backend."""
    backend = Backend(run, (said if said is not None else []).append)
    with backend_server(backend, "127.0.0.1", 0) as server, backend:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        port = server.server_address[1]

        def ask(method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
            connection = HTTPConnection("127.0.0.1", port, timeout=60)
            content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            kinds = {"Content-Type": "application/json"} if content is not None else {}
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, content, kinds | named)
            answer = connection.getresponse()
            read = answer.read()
            connection.close()
            return answer.status, json.loads(read)

        try:
            yield ask, backend
        finally:
            server.shutdown()
            thread.join()


def task(number: int, name: str) -> dict[str, Any]:
    return {"id": number, "data": {"picture": f"/data/upload/1/0a1b2c3d-{name}"}}


def predict(ask: Ask, *tasks: dict[str, Any]) -> list[dict[str, Any]]:
    status, answer = ask("POST", "/predict", {"tasks": tasks, "project": "1.1794917716", "label_config": CONFIG})
    assert status == 200, answer
    results: list[dict[str, Any]] = answer["results"]
    return results


def place_of(result: dict[str, Any]) -> list[float]:
    (region,) = result["result"]
    return [region["value"][side] for side in ("x", "y", "width", "height")]


def annotated(
    name: str, *places: list[float], label: str = "red", action: str = "ANNOTATION_CREATED"
) -> dict[str, Any]:
    """The body of a webhook, as version 1.23 sends it."""
    result = [
        {
            "type": "rectanglelabels",
            "original_width": 80,
            "original_height": 60,
            "value": dict(zip(("x", "y", "width", "height"), place, strict=True)) | {"rectanglelabels": [label]},
        }
        for place in places
    ]
    annotation = {"id": 5, "completed_by": 3, "was_cancelled": False, "result": result}
    project = {"id": 1, "label_config": CONFIG}
    return {"action": action, "annotation": annotation, "task": task(1, name), "project": project}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Label Studio's models are of another pydantic
def test_every_task_has_its_answer_in_its_place(run: Run) -> None:
    theirs = import_module("label_studio_sdk.label_interface").LabelInterface(CONFIG)
    with asking(run) as (ask, _):
        version = ask("POST", "/setup", {"project": "1.17", "schema": CONFIG, "access_token": "secret"})[1]
        assert ask("GET", "/versions") == (200, {"versions": [version["model_version"]]})
        found = predict(ask, task(7, "2.png"), task(8, "stranger.png"), task(9, "0.png"), {"id": 3, "data": {}})
    assert [len(one["result"]) for one in found] == [1, 0, 1, 0]
    for one in found:
        assert one["model_version"] == version["model_version"]
        assert theirs.validate_prediction(one, return_errors=True) == []
    assert "secret" not in json.dumps(found)


def test_a_box_that_is_drawn_moves_the_boxes_of_other_photos(run: Run) -> None:
    """EM alone takes one of the two quarters; drawn once in the other one, all photos follow."""
    with asking(run) as (ask, _):
        (before,) = predict(ask, task(2, "1.png"))
        other = RIGHT if place_of(before) == LEFT else LEFT
        assert ask("POST", "/webhook", annotated("0.png", other)) == (200, {"kept": 1})
        after, drawn = predict(ask, task(2, "1.png"), task(1, "0.png"))
    assert place_of(after) == other != place_of(before)
    assert drawn["score"] == 1.0
    assert after["model_version"] != before["model_version"]
    (said,) = run.journal.said()
    assert isinstance(said.what, Shows)
    assert (said.what.photo, said.what.label, said.by) == ("red/0.png", "red", "Label Studio, user 3")
    assert run.state.boxes == "fresh"


def test_an_annotation_without_the_label_takes_the_tag_away(run: Run) -> None:
    with asking(run) as (ask, _):
        assert ask("POST", "/webhook", annotated("3.png"))[1] == {"kept": 1}
        (result,) = predict(ask, task(1, "3.png"))
        assert result["result"] == []
        assert ask("POST", "/webhook", annotated("3.png", action="ANNOTATION_UPDATED"))[1] == {"kept": 0}
    assert [one.what for one in run.journal.said()] == [ShowsNot("red/3.png", "red")]


def test_a_new_label_is_learned_from_one_photo(run: Run) -> None:
    with asking(run) as (ask, _):
        body = annotated("0.png", LEFT, RIGHT)
        body["annotation"]["result"][1]["value"]["rectanglelabels"] = ["green"]
        assert ask("POST", "/webhook", body)[1] == {"kept": 2}
        (result,) = predict(ask, task(1, "0.png"))
    assert {region["value"]["rectanglelabels"][0] for region in result["result"]} == {"red", "green"}


def test_what_says_nothing_about_photos_of_the_run_is_passed_over(run: Run) -> None:
    with asking(run) as (ask, _):
        assert ask("POST", "/webhook", {"action": "START_TRAINING", "project": {"id": 1}}) == (200, {"kept": 0})
        assert ask("POST", "/webhook", {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}]})[1] == {"kept": 0}
        assert ask("POST", "/webhook", annotated("stranger.png", LEFT)) == (200, {"kept": 0})
    assert run.journal.said() == []


def test_the_boxes_stay_if_nothing_can_be_learned_any_more(run: Run) -> None:
    told: list[str] = []
    with asking(run, told) as (ask, backend):
        for number in range(4):
            assert ask("POST", "/webhook", annotated(f"{number}.png"))[1] == {"kept": 1}
        assert backend.wait(30)
        assert ask("GET", "/health")[0] == 200
        assert len(predict(ask, task(1, "0.png"))) == 1
        assert any(words.startswith("The boxes stay as they were: no tag has two photos") for words in told)
        ask("POST", "/webhook", annotated("0.png", LEFT))
        assert place_of(predict(ask, task(1, "0.png"))[0]) == LEFT


def test_somebody_answers_while_the_run_is_being_solved(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Label Studio waits a second for health, and three for setup."""
    with asking(run) as (ask, backend):
        go_on, begun, localize = threading.Event(), threading.Event(), Run.localize

        def slowly(self: Run, *arguments: Any, **options: Any) -> Any:
            begun.set()
            assert go_on.wait(30)
            return localize(self, *arguments, **options)

        monkeypatch.setattr(Run, "localize", slowly)
        ask("POST", "/webhook", annotated("0.png", LEFT))
        assert begun.wait(30)
        assert not backend.wait(0.0)
        assert ask("GET", "/health")[1]["status"] == "UP"
        assert ask("POST", "/setup", {"project": "1", "schema": CONFIG})[0] == 200
        go_on.set()
        assert backend.wait(30)


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("GET", "/nowhere", None, {}, 404),
        ("POST", "/nowhere", {}, {}, 404),
        ("GET", "/predict", None, {}, 404),
        ("POST", "/predict", b"{", {}, 400),
        ("POST", "/predict", [], {}, 400),
        ("POST", "/predict", {}, {}, 400),
        ("POST", "/webhook", {"action": "ANNOTATION_CREATED"}, {}, 400),
        ("POST", "/setup", {"schema": "<View/>"}, {}, 400),
        ("POST", "/webhook", {}, {"Content_Type": "text/plain"}, 415),
        ("POST", "/webhook", {}, {"Content_Length": "20000001"}, 413),
        ("POST", "/webhook", {}, {"Content_Length": "-1"}, 411),
        ("POST", "/webhook", {}, {"Origin": "http://evil.example"}, 403),
        ("POST", "/webhook", {}, {"Origin": "null"}, 403),
        ("GET", "/health", None, {"Host": "evil.example:9090"}, 421),
        ("GET", "/health", None, {"Host": "[evil"}, 421),
        ("GET", "/[", None, {}, 404),
        ("GET", "/health", None, {"Host": "localhost:9090"}, 200),
        ("GET", "/health/?x=1", None, {"Host": "[::1]:9090"}, 200),
    ],
)
def test_what_is_no_call_of_label_studio_is_refused(
    run: Run, method: str, path: str, body: Any, headers: dict[str, str], status: int
) -> None:
    """A page in a browser could otherwise change the run of whoever looks at it."""
    with asking(run) as (ask, _):
        answered, said = ask(method, path, body, **headers)
    assert answered == status
    assert ("error" in said) == (status != 200)


def test_damaged_calls_are_answered_or_refused_in_words(run: Run) -> None:
    """Each with one value replaced by another; whatever is kept can be solved."""
    rng, outcomes = random.Random(0), set()
    with Backend(run) as backend:
        for _ in range(200):
            body, call = rng.choice([
                (annotated("0.png", LEFT), backend.webhook),
                ({"tasks": [task(1, "0.png")], "project": "1", "label_config": CONFIG}, backend.predict),
                ({"project": "1", "schema": CONFIG}, backend.setup),
            ])  # fmt: skip
            damage(body, rng)
            try:
                json.dumps(call(body), allow_nan=False)
                outcomes.add("answer")
            except InputError as error:
                outcomes.add("words" if all(error.args) else "half of them")
    assert outcomes == {"answer", "words"}
    run.localize()


def damage(value: Any, rng: random.Random) -> None:
    """Replace something in a JSON value."""
    places = list(value) if isinstance(value, dict) else list(range(len(value)))
    place = rng.choice(places)
    if isinstance(value[place], dict | list) and value[place] and rng.random() < 0.8:
        damage(value[place], rng)
    else:
        value[place] = rng.choice(
            [None, True, [], {}, [[]], "", "_none", "x" * 300, "\ud800", -1, 1e999, 10**400, "$", {"data": 3}]
        )


def test_requests_are_written_down_nowhere(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []
    with asking(run, told) as (ask, _):
        ask("POST", "/setup", {"project": "1", "schema": CONFIG, "access_token": "secret"})
        ask("POST", "/setup?token=secret", b"secret")
        ask("GET", "/secret")
    captured = capfd.readouterr()
    assert "secret" not in captured.out + captured.err + "".join(told)
    assert not any(b"secret" in path.read_bytes() for path in run.folder.rglob("*") if path.is_file())


def test_a_port_that_is_taken_is_said(run: Run) -> None:
    backend = Backend(run)
    with backend_server(backend, "127.0.0.1", 0) as server, pytest.raises(DoorError, match="cannot be used"):
        backend_server(backend, "127.0.0.1", server.server_address[1])


def test_what_has_arrived_is_kept_though_the_end_comes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    arrived, photo_of = threading.Event(), Backend._photo_of

    def noticed(self: Backend, *arguments: Any) -> str | None:
        arrived.set()
        return photo_of(self, *arguments)

    monkeypatch.setattr(Backend, "_photo_of", noticed)
    with asking(run) as (ask, backend):
        backend._working.acquire()
        annotator = threading.Thread(target=ask, args=("POST", "/webhook", annotated("0.png", LEFT)))
        annotator.start()
        assert arrived.wait(30)
        threading.Timer(0.3, backend._working.release).start()
    assert len(run.journal.said()) == 1
    annotator.join()


def test_an_address_of_the_new_kind(run: Run) -> None:
    try:
        server = backend_server(Backend(run), "::1", 0)
    except DoorError as error:
        pytest.skip(f"this machine has no such addresses: {error.wrong}")
    with server:
        assert server.server_address[0] == "::1"


@pytest.mark.parametrize(
    ("host", "ours"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("", False), ("evil.example", False)],
)
def test_which_addresses_only_this_machine_reaches(host: str, ours: bool) -> None:
    assert is_loopback(host) is ours


def test_the_largest_body_is_large_enough_for_a_batch() -> None:
    assert serving.LARGEST_BODY >= 10_000_000


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_the_command_says_where_it_is_and_ends_by_ctrl_c(
    run: Run, monkeypatch: pytest.MonkeyPatch, host: str, warned: bool
) -> None:
    run.close()
    monkeypatch.setattr(Model, "open", lambda *_, **__: run.model)
    with socket.socket() as free:
        free.bind((host, 0))
        port = free.getsockname()[1]

    def interrupted(server: ThreadingHTTPServer) -> None:
        assert server.server_address == (host, port)
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", interrupted)
    done = run_here("labelstudio", "serve", run.folder, "--port", str(port), "--host", host)
    assert done.returncode == 130, done.stderr
    *before, last = done.stdout.splitlines()
    assert last == f"Label Studio finds the boxes at http://{host}:{port} (Settings > Model). Ctrl-C ends it."
    assert before == ([f"Warning: whoever reaches {host}:{port} can change this run."] if warned else [])
    Run.open(run.folder, run.model).close()  # nobody holds it any more


def test_stale_boxes_are_made_anew_at_the_start(run: Run) -> None:
    run.localize()
    run.correct(Shows("red/0.png", "red", (40, 30, 80, 60)))
    Backend(run)
    assert run.state.boxes == "fresh"
    for name in range(4):
        run.correct(ShowsNot(f"red/{name}.png", "red"))
    with pytest.raises(TagsError, match="no tag has two photos"):
        Backend(run)
