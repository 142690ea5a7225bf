"""One thread for everything that touches a run: what people say comes first, long work goes on in between."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar, final

from tag2box.errors import RunError

T = TypeVar("T")


@final
class Worker:
    """Does what it is asked for, one after the other; when nobody asks, it calls ``go_on`` as long as that wants."""

    def __init__(self, go_on: Callable[[], bool]) -> None:
        """``go_on`` says whether it wants to be called again, and should end early when the worker is ``wanted``."""
        self._go_on = go_on
        self._asked: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._ending = False
        self._thread = Thread(target=self._run, name="studio", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def do(self, job: Callable[[], T]) -> Future[T]:
        """What a job gives, later; when the end has come, it is refused."""
        future: Future[T] = Future()
        if self._ending:
            future.set_exception(RunError("the studio is ending.", "a studio that runs", "start it again."))
        else:
            self._asked.put(lambda: _settle(future, job))
        return future

    @property
    def wanted(self) -> bool:
        """Whether somebody waits, or the worker shall end."""
        return self._ending or not self._asked.empty()

    def leave(self) -> None:
        """Finish what was asked for and end; long work is left where it is."""
        self._ending = True
        self._asked.put(None)

    def end(self, patience: float) -> None:
        """The same, and wait for it."""
        self.leave()
        if self._thread.is_alive():
            self._thread.join(patience)

    def _run(self) -> None:
        restless = True
        while True:
            try:
                job = self._asked.get(block=not restless)
            except Empty:
                restless = self._go_on()
                continue
            if job is None:
                return
            job()
            restless = True


def _settle(future: Future[Any], job: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(job())
    except BaseException as error:  # whoever asked is told
        future.set_exception(error)
