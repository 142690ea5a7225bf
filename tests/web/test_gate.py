"""Who may speak to the studio: every line of the list of what others got wrong."""

from __future__ import annotations

import logging
import socket
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tag2box.web import gate as gates
from tag2box.web.app import make_app
from tag2box.web.gate import HEADERS, Gate
from tag2box.web.serving import listen
from tag2box.web.studio import Studio

PORT = 8642
HOME = f"http://127.0.0.1:{PORT}"


def stranger(studio: Studio) -> tuple[TestClient, Gate]:
    gate = Gate(make_app(studio), PORT)
    return TestClient(gate, base_url=HOME), gate


@pytest.mark.parametrize("path", ["/", "/state", "/events", "/assets/main.js", "/thumb/0", "/export/coco", "/nowhere"])
def test_without_the_cookie_there_is_nothing(studio: Studio, path: str) -> None:
    client, _ = stranger(studio)
    assert client.get(path).status_code == 401
    client.cookies.set(f"tag2box-{PORT}", "guess")
    assert client.get(path).status_code == 401


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:9",
        "localhost.:8642",
        f"127.0.0.1.evil.example:{PORT}",
        "",
        f"[::1]:{PORT}",
    ],
)
def test_a_host_that_is_not_ours_is_refused_even_with_the_cookie(client: TestClient, host: str) -> None:
    assert client.get("/state", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:9"])
def test_a_foreign_origin_is_refused(client: TestClient, origin: str) -> None:
    assert client.post("/find", json={}, headers={"origin": origin}).status_code == 403
    assert client.get("/state", headers={"origin": origin}).status_code == 403


def test_our_own_origin_is_welcome(client: TestClient) -> None:
    assert client.get("/state", headers={"origin": HOME, "sec-fetch-site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("site", ["same-site", "cross-site"])
def test_another_port_of_this_machine_is_foreign_though_it_sends_our_cookie(client: TestClient, site: str) -> None:
    foreign = {"sec-fetch-site": site}
    assert client.post("/undo", json={}, headers=foreign).status_code == 403
    assert client.get("/state", headers=foreign).status_code == 403
    assert client.get("/photo/0123456789abcdef", headers=foreign).status_code == 403
    assert client.get("/", headers=foreign).status_code == 200  # a link may lead here


def test_no_websocket(client: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/events"):
        pass


def test_every_answer_keeps_others_out(client: TestClient, studio: Studio) -> None:
    for answer in (client.get("/"), client.get("/nowhere"), stranger(studio)[0].get("/")):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert "access-control-allow-origin" not in answer.headers


def test_the_printed_address_works_and_then_no_more(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    client, gate = stranger(studio)
    clock = [100.0]
    monkeypatch.setattr("tag2box.web.gate.time.monotonic", lambda: clock[0])
    clock[0] += 1e6  # it waits for its first use
    first = client.get(f"/enter?token={gate.token}")
    assert first.status_code == 200
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert gate.token not in cookie  # the address in the history is worth nothing
    assert client.get("/state").status_code == 200
    clock[0] += gates.GRACE - 1
    assert client.get(f"/enter?token={gate.token}").status_code == 200
    clock[0] += 2
    assert client.get(f"/enter?token={gate.token}").status_code == 401
    assert client.get("/state").status_code == 200  # whoever is in stays


@pytest.mark.parametrize("question", ["", "?token=", "?token=x", "?next=http://evil.example"])
def test_a_wrong_token_gets_no_cookie(studio: Studio, question: str) -> None:
    answer = stranger(studio)[0].get(f"/enter{question}")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("cookie", ["=", "tag2box-8642", 'a="\\', "tag2box-8642=ä", ";;;", "[]=1"])
def test_a_broken_cookie_is_none(studio: Studio, cookie: str) -> None:
    assert stranger(studio)[0].get("/state", headers={b"cookie": cookie.encode()}).status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "/assets/..%2findex.html",
        "/assets/%2e%2e",
        "/assets/gate.py",
        "/photo/..%2f..%2fetc%2fpasswd",
        "/thumb/%00",
        "/photo/thing%2F0.png",
        "/assets/%5c",
    ],
)
def test_no_path_of_a_request_reaches_the_disk(client: TestClient, path: str) -> None:
    assert client.get(path).status_code in {400, 404}


def test_only_this_machine_is_listened_to() -> None:
    at = listen(0)
    try:
        assert at.socket.getsockname()[0] == "127.0.0.1"
        other = listen(at.port)  # taken: another one
        assert other.port != at.port
        other.socket.close()
    finally:
        at.socket.close()
    assert isinstance(at.socket, socket.socket)


def test_no_secret_in_any_log(client: TestClient, studio: Studio, caplog: pytest.LogCaptureFixture) -> None:
    def broken(_value: Any) -> None:
        raise ZeroDivisionError

    secret = next(iter(client.cookies.values()))
    studio.say = broken  # type: ignore[method-assign,assignment]
    with caplog.at_level(logging.DEBUG):
        word = {"photo": next(iter(studio.snapshot.photos)), "label": "thing", "kind": "accept"}
        answer = client.post("/correct", json=word)
    assert answer.status_code == 500
    assert secret not in answer.text + caplog.text
    assert "Traceback" not in answer.text


def test_text_of_users_enters_the_page_as_text_only() -> None:
    """Markup is written by us alone: every ``innerHTML`` is a literal without holes."""
    folder = Path(gates.__file__).parents[1] / "assets" / "studio"
    scripts = sorted(folder.glob("*.js"))
    assert len(scripts) >= 8
    for script in scripts:
        for line in script.read_text().splitlines():
            assert "insertAdjacentHTML" not in line
            assert "eval(" not in line
            if "innerHTML" in line:
                assert line.rstrip().endswith("';"), f"{script.name}: {line}"
                assert "`" not in line
                assert "+" not in line
    page = (folder / "index.html").read_text()
    assert "style=" not in page
    assert page.count("<script") == page.count('<script type="module" src="/assets/') == 1
