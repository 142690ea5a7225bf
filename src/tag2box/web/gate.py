"""Who may speak to the studio: a browser on this machine that was sent here by the printed address.

Host, origin and cookie are read from the raw request. Whatever is unknown is refused.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple, final
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENTER = "/enter"
LANDING = frozenset({"/", ENTER})
"""What a link on another page may lead to; with the cookie, or without effect."""
GRACE = 60.0
"""Seconds for which the printed address still works after its first use: browsers like to ask twice."""
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
}
WELCOME = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>tag2box studio</title>'
    '<meta http-equiv="refresh" content="0;url=/"><p><a href="/">Open the studio</a></p></html>'
)
"""A page and no redirect: a cookie that is set by one is not sent along when the link was on another page."""


class Refusal(NamedTuple):
    """Why a request goes no further."""

    status: int
    words: str


@final
class Gate:
    """Lets a request in when its host, its origin and its cookie are ours; the outermost part, static files too."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        """Secrets are made anew: what was printed by an earlier studio opens nothing."""
        self.app = app
        self.token, self._pass = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.cookie = f"tag2box-{port}"  # all ports of a host share their cookies
        self.hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self._first_used: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let others answer; every answer gets the headers that keep other pages out."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._answerer(scope)(scope, receive, guarded)

    def _answerer(self, scope: Scope) -> ASGIApp:
        heads = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self.refusal(scope["method"], scope["path"], heads)
        if refusal is not None:
            return PlainTextResponse(refusal.words, refusal.status)
        return self._enter(scope) if scope["path"] == ENTER else self.app

    def refusal(self, method: str, path: str, heads: Mapping[str, str]) -> Refusal | None:
        """Why not, if not."""
        host, origin = heads.get("host", ""), heads.get("origin")
        if host not in self.hosts:
            return Refusal(421, "unknown host")
        if origin not in {None, f"http://{host}"}:
            return Refusal(403, "foreign origin")
        from_here = heads.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}
        if not from_here and (method not in {"GET", "HEAD"} or path not in LANDING):
            return Refusal(403, "foreign site")
        if path != ENTER and not _same(_cookie(heads.get("cookie", ""), self.cookie), self._pass):
            return Refusal(401, "Open the address that tag2box studio has printed.")
        return None

    def _enter(self, scope: Scope) -> Response:
        """Swap the printed token for a cookie; soon after its first use it is worth nothing."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        now = time.monotonic()
        late = self._first_used is not None and now - self._first_used > GRACE
        if scope["method"] != "GET" or late or not _same(given, self.token):
            return PlainTextResponse("This address is used up or wrong: start tag2box studio again.", 401)
        self._first_used = now if self._first_used is None else self._first_used
        answer = HTMLResponse(WELCOME, headers={"cache-control": "no-store"})
        answer.set_cookie(self.cookie, self._pass, httponly=True, samesite="strict", path="/")
        return answer


def _same(given: str, wanted: str) -> bool:
    """In a time that tells nothing."""
    return hmac.compare_digest(given.encode(), wanted.encode())


def _cookie(header: str, name: str) -> str:
    try:
        jar = SimpleCookie(header)
    except CookieError:
        return ""
    return jar[name].value if name in jar else ""
