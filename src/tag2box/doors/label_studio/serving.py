"""The wires of the ML backend: HTTP requests in, JSON out. Nothing of a request is written down anywhere."""

from __future__ import annotations

import ipaddress
import json
import socket
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tag2box.doors.label_studio.backend import Backend
from tag2box.errors import DoorError, InputError

LARGEST_BODY = 20_000_000
"""Bytes: a batch of tasks with all their annotations."""
SLOWEST = 30.0
"""Seconds in which a request must arrive."""


class _Refusal(Exception):  # noqa: N818 - an answer
    """A request that is not answered, and why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Routes(NamedTuple):
    """What answers at which path."""

    get: dict[str, Callable[[], dict[str, Any]]]
    post: dict[str, Callable[[dict[str, Any]], dict[str, Any]]]

    @classmethod
    def of(cls, backend: Backend) -> Routes:
        """The calls of Label Studio."""
        get = {"/": backend.health, "/health": backend.health, "/versions": backend.versions}
        return cls(get, {"/setup": backend.setup, "/predict": backend.predict, "/webhook": backend.webhook})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _hostname(said: str) -> str:
    """The name in a header, without the port; nothing if it is none."""
    try:
        return urlsplit(f"//{said}").hostname or ""
    except ValueError:
        return ""


def backend_server(backend: Backend, host: str, port: int) -> ThreadingHTTPServer:
    """A server that answers at a port, 0 for any that is free; ``serve_forever`` lets it begin."""
    about = {"routes": Routes.of(backend), "guarded": is_loopback(host)}
    kind = _Server6 if ":" in host else _Server
    try:
        return kind((host, port), type("Handler", (_Handler,), about))
    except (OSError, OverflowError) as error:
        raise DoorError(
            f"port {port} of {host} cannot be used: {getattr(error, 'strerror', None) or error}.",
            "a port that is free, from 1024 to 65535",
            "give another one with --port.",
        ) from error


class _Server(ThreadingHTTPServer):
    """Ends when all that has arrived is answered: what an annotator said is kept, even if it had to wait."""

    daemon_threads = False


class _Server6(_Server):
    """The same for addresses of the new kind, such as ::1."""

    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    routes: Routes
    guarded: bool
    """Whether only this machine shall be answered, by whatever name it is called"""
    server_version, sys_version = "tag2box", ""
    timeout = SLOWEST

    def do_GET(self) -> None:
        """Answer who only asks."""
        self._answer(lambda: self._find(self.routes.get)())

    def do_POST(self) -> None:
        """Answer who brings something along."""
        self._answer(lambda: self._find(self.routes.post)(self._body()))

    def log_message(self, *_: object) -> None:
        """Say nothing: requests carry tokens."""

    def _find(self, routes: dict[str, Callable[..., dict[str, Any]]]) -> Callable[..., dict[str, Any]]:
        self._require_no_browser()
        path = self.path.split("?", 1)[0]
        found = routes.get(path.rstrip("/") or "/")
        if found is None:
            raise _Refusal(HTTPStatus.NOT_FOUND, f"there is nothing at {path[:80]}")
        return found

    def _require_no_browser(self) -> None:
        """Refuse pages: any of them could speak to this machine, but none can help saying where it is from."""
        if self.headers.get("Origin") is not None:
            raise _Refusal(HTTPStatus.FORBIDDEN, "pages are not answered")
        if self.guarded and not is_loopback(_hostname(self.headers.get("Host", ""))):
            raise _Refusal(HTTPStatus.MISDIRECTED_REQUEST, "only this machine is answered, by its own name")

    def _body(self) -> dict[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise _Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "JSON is expected")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise _Refusal(HTTPStatus.LENGTH_REQUIRED, "the length is not said")
        if int(length) > LARGEST_BODY:
            raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {LARGEST_BODY} bytes are read")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise _Refusal(HTTPStatus.BAD_REQUEST, "this is no JSON") from error
        if not isinstance(body, dict):
            raise _Refusal(HTTPStatus.BAD_REQUEST, "an object is expected")
        return body

    def _answer(self, call: Callable[[], dict[str, Any]]) -> None:
        """Send what the call gives or, if it refuses, why; then the connection ends, and nobody waits for idle ones."""
        status, body = HTTPStatus.OK, {}
        try:
            body = call()
        except _Refusal as refusal:
            status, body = refusal.status, {"error": refusal.why}
        except InputError as error:
            status, body = HTTPStatus.BAD_REQUEST, {"error": str(error)}
        content = json.dumps(body, allow_nan=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
