"""A Label Studio server in this process: projects, tasks, predictions and both kinds of tokens, as version 1.23 has."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

LEGACY = "0123456789abcdef0123456789abcdef01234567"
PERSONAL = "eyJhbGciOiJIUzI1NiJ9.eyJ0b2tlbl90eXBlIjoicmVmcmVzaCJ9.c2lnbmF0dXJl"
CONFIG = """<View><Header value="Things"/><Image name="photo" value="$picture"/>
<RectangleLabels name="things" toName="photo"><Label value="red"/><Label value="green"/></RectangleLabels></View>"""


@dataclass
class FakeLabelStudio:
    """What the server knows, and every request it got: method, path, authorization."""

    references: list[str]
    config: str = CONFIG
    legacy_allowed: bool = False
    forbidden: bool = False
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    predictions: list[dict[str, Any]] = field(default_factory=list)
    access: int = 0
    url: str = ""

    def answer(self, method: str, path: str, authorization: str, body: Any) -> tuple[int, Any]:
        parts = urlsplit(path)
        if parts.path == "/api/token/refresh/":
            return self._refreshed(body)
        if not self._is_known(authorization):
            return 401, {"detail": "Authentication credentials were not provided."}
        if self.forbidden:
            return 403, {"detail": "You do not have permission to perform this action."}
        if parts.path == "/api/projects/1/":
            return 200, {"id": 1, "title": "Things", "label_config": self.config}
        if parts.path == "/api/tasks/" and method == "GET":
            return self._page(parse_qs(parts.query))
        if parts.path == "/api/predictions/" and method == "POST":
            self.predictions.append(body)
            return 201, {"id": len(self.predictions), **body}
        return 404, {"detail": "Not found."}

    def _refreshed(self, body: Any) -> tuple[int, Any]:
        if body != {"refresh": PERSONAL}:
            return 401, {"detail": "Token is invalid"}
        self.access += 1
        return 200, {"access": f"access-{self.access}"}

    def _is_known(self, authorization: str) -> bool:
        legacy = self.legacy_allowed and authorization == f"Token {LEGACY}"
        return legacy or (self.access > 0 and authorization == f"Bearer access-{self.access}")

    def _page(self, query: dict[str, list[str]]) -> tuple[int, Any]:
        assert query["project"] == ["1"]
        assert query["fields"] == ["all"]
        page, size = int(query["page"][0]), int(query["page_size"][0])
        numbered = list(enumerate(self.references, 1))[(page - 1) * size : page * size]
        tasks = [
            {
                "id": number,
                "data": {"picture": reference},
                "predictions": [one for one in self.predictions if one["task"] == number],
            }
            for number, reference in numbered
        ]
        return 200, {"tasks": tasks, "total": len(self.references)}


@contextmanager
def serving(fake: FakeLabelStudio) -> Iterator[FakeLabelStudio]:
    """The server, at a port of its own, as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            authorization = self.headers.get("Authorization", "")
            fake.requests.append((self.command, self.path, authorization))
            status, said = fake.answer(self.command, self.path, authorization, json.loads(body) if body else None)
            content = json.dumps(said).encode()
            self.send_response(status)
            if "Location" in said:
                self.send_header("Location", said["Location"])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        fake.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield fake
        finally:
            server.shutdown()
            thread.join()
