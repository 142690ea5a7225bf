"""A Label Studio server, spoken to with the standard library alone. Tokens are in no message."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any, NoReturn, final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tag2box.data.formats.parsing import field
from tag2box.errors import DoorError

PATIENCE = 60.0
"""Seconds for an answer."""
ACCESS_SECONDS = 240.0
"""After which a new access token is asked for; the server gives each 300 seconds."""
PAGE = 100
"""Tasks that are asked for at a time."""
TOKENS = "docs/doors.md says where they are, and that old ones (legacy) are off unless somebody turned them on"


class _NoRedirects(HTTPRedirectHandler):
    """The token is for one address, and follows nobody to another."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """None: the answer is an error then."""


@final
class LabelStudio:
    """A server and a user's token for it: a personal access token, or one of the old kind."""

    def __init__(self, url: str, token: str) -> None:
        """Nothing is asked yet."""
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.username:
            raise DoorError(f"{_shown(url)} is no address.", "such as http://localhost:8080", "check --url.")
        if not token.strip() or not token.isascii() or not token.isprintable():
            raise DoorError("there is no usable token.", "a user's token for Label Studio", f"give one; {TOKENS}.")
        self.url = url.rstrip("/")
        self._token = token.strip()
        self._access, self._asked = "", float("-inf")
        self._opener = build_opener(_NoRedirects)

    def label_config(self, project: int) -> str:
        """The labeling interface of a project, in XML."""
        found = self.get(f"/api/projects/{project}/", f"project {project}")
        return field(found, "label_config", str, f"project {project}")

    def tasks(self, project: int) -> Iterator[dict[str, Any]]:
        """All tasks of a project, with their data and predictions."""
        page, seen = 1, 0
        while True:
            path = f"/api/tasks/?project={project}&page={page}&page_size={PAGE}&fields=all"
            answer = self.get(path, f"the tasks of project {project}")
            tasks = field(answer, "tasks", list, "the list of tasks")
            yield from tasks
            seen, page = seen + len(tasks), page + 1
            if not tasks or seen >= int(answer.get("total", 0)):
                return

    def add_prediction(self, task: int, prediction: dict[str, Any]) -> None:
        """Put boxes into a task, for a person to accept."""
        self._call("POST", "/api/predictions/", f"task {task}", {"task": task, **prediction})

    def get(self, path: str, what: str) -> Any:
        """What the server has there; ``what`` that is, is for messages."""
        return self._call("GET", path, what)

    def _call(self, method: str, path: str, what: str, body: Any = None) -> Any:
        return self._send(method, path, what, body, {"Authorization": self._authorization()})

    def _authorization(self) -> str:
        """A personal access token only buys access for some minutes; an old token is access itself."""
        if self._token.count(".") != 2:
            return f"Token {self._token}"
        if time.monotonic() - self._asked > ACCESS_SECONDS:
            answer = self._send("POST", "/api/token/refresh/", "the token", {"refresh": self._token}, {})
            self._access, self._asked = field(answer, "access", str, "the answer"), time.monotonic()
        return f"Bearer {self._access}"

    def _send(self, method: str, path: str, what: str, body: Any, headers: dict[str, str]) -> Any:
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        kinds = {"Accept": "application/json", "Content-Type": "application/json"}
        request = Request(self.url + path, content, headers | kinds, method=method)  # noqa: S310 (http or https)
        try:
            with self._opener.open(request, timeout=PATIENCE) as answer:
                return json.loads(answer.read() or b"null")
        except HTTPError as error:
            with error:
                self._refuse(error, what)
        except (URLError, OSError, HTTPException) as error:
            raise DoorError(
                f"nobody answers at {self.url}: {getattr(error, 'reason', error)}.",
                "a Label Studio server",
                "start it, or check --url.",
            ) from None
        except ValueError:
            raise self._strange("its answer is no JSON") from None

    def _refuse(self, error: HTTPError, what: str) -> NoReturn:
        """What a status means, in words."""
        if error.code == 401:
            raise DoorError(f"{self.url} does not take the token.", "a token of one of its users", f"{TOKENS}.")
        if error.code == 403:
            raise DoorError(
                f"{self.url} does not let this user at {what}.", "a user who may change the project", "ask its owner."
            )
        if error.code == 404:
            raise DoorError(
                f"{self.url} has no such thing: {what}.",
                "a project that exists, and that the token's user may see",
                "check --project (the number in the project's address) and --url.",
            )
        if error.code in {301, 302, 307, 308}:
            moved = urlsplit(error.headers.get("Location", ""))
            raise self._strange(f"it sends us on to {moved.scheme}://{moved.netloc}{moved.path}")
        said = " ".join(error.read(300).decode(errors="replace").split())
        raise self._strange(f"it answered {error.code} when asked for {what}: {said}")

    def _strange(self, wrong: str) -> DoorError:
        return DoorError(
            f"what is at {self.url} does not speak as Label Studio does: {wrong}.",
            "a Label Studio server, version 1.13 or later",
            "check --url; if it is right, look into the server's log.",
        )


def _shown(url: str) -> str:
    """An address without what may be a password in it."""
    return repr(url.rsplit("@", 1)[-1][:200])
