"""The studio on a port of this machine, and of no other."""

from __future__ import annotations

import errno
import socket
from types import FrameType
from typing import NamedTuple, Self, final

import uvicorn

from tag2box.errors import InputError
from tag2box.web.app import make_app
from tag2box.web.gate import ENTER, Gate
from tag2box.web.studio import Studio

HERE = "127.0.0.1"


class Listening(NamedTuple):
    """A socket, and its port."""

    socket: socket.socket
    port: int


def listen(port: int) -> Listening:
    """A socket on the port, or on any other if that one is taken."""
    for wanted in (port, 0):
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((HERE, wanted))
            one.listen()
        except OSError as error:
            one.close()
            if error.errno not in {errno.EADDRINUSE, errno.EACCES}:
                raise
            continue
        return Listening(one, one.getsockname()[1])
    raise InputError("no port of this machine is free.", "one for the studio", "end some other program.")


@final
class _Uvicorn(uvicorn.Server):
    """Tells the studio at once that the end has come: pages that listen to events would keep the server."""

    def __init__(self, config: uvicorn.Config, studio: Studio) -> None:
        super().__init__(config)
        self._studio = studio

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """What Ctrl-C does."""
        self._studio.leave()
        super().handle_exit(sig, frame)


@final
class Server:
    """Serves a studio until it is told to stop."""

    def __init__(self, studio: Studio, at: Listening) -> None:
        """Nothing is served yet."""
        self._at, self._studio = at, studio
        self._gate = Gate(make_app(studio), at.port)
        config = uvicorn.Config(
            self._gate,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = _Uvicorn(config, studio)

    @property
    def address(self) -> str:
        """What to open in a browser; it works once."""
        return f"http://{HERE}:{self._at.port}{ENTER}?token={self._gate.token}"

    @property
    def started(self) -> bool:
        """Whether it answers."""
        return self._server.started

    def run(self) -> Self:
        """Serve; Ctrl-C ends it."""
        self._server.run(sockets=[self._at.socket])
        return self

    def stop(self) -> None:
        """End it from another thread."""
        self._studio.leave()
        self._server.should_exit = True
