"""A process of its own for files from anywhere: a picture may break its decoder, ask for all memory or never end."""

from __future__ import annotations

import io
import multiprocessing
import resource
import signal
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, final

from PIL import Image, ImageOps

from tag2box.data.photo_files import open_heif
from tag2box.errors import PhotoError

FORMATS = ("JPEG", "PNG", "WEBP", "AVIF", "GIF", "BMP", "TIFF")
"""Of what people may give; other readers of Pillow are seldom used, seldom tested, or start other programs."""
MORE_FORMATS = (*FORMATS, "MPO", "JPEG2000", "PPM", "HEIF")
"""Of what lies on the disk already."""
MOST_PIXELS = 80_000_000
MEMORY = 1_500_000_000
"""Bytes that a picture may need."""
PATIENCE = 20.0
"""Seconds for one picture."""
QUALITY = 80


class Inspected(NamedTuple):
    """What a picture is."""

    format: str
    height: int
    """Of the upright picture"""
    width: int


class _Refused(NamedTuple):
    """Why something was not done."""

    reason: str


def inspect(path: Path) -> Inspected:
    """What a picture is that somebody gives; it is decoded to its end."""
    with _opened(path, FORMATS) as picture:
        kind = picture.format or ""
        width, height = ImageOps.exif_transpose(picture).convert("RGB").size
    return Inspected(kind, height, width)


def shown(path: Path, longest: int) -> bytes:
    """A picture as a page may show it: upright, no larger than asked for, and of its file nothing but the pixels."""
    with _opened(path, MORE_FORMATS) as picture:
        picture.draft("RGB", (longest, longest))
        upright = ImageOps.exif_transpose(picture).convert("RGB")
    upright.thumbnail((longest, longest), Image.Resampling.BILINEAR, reducing_gap=2.0)
    content = io.BytesIO()
    upright.save(content, "WEBP", quality=QUALITY, method=2)
    return content.getvalue()


def _opened(path: Path, formats: tuple[str, ...]) -> Image.Image:
    open_heif()
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        return Image.open(path, formats=[name for name in formats if name in Image.OPEN or name in FORMATS])


@final
class Child:
    """Calls functions in another process, one at a time; when that dies, the next call starts another."""

    def __init__(self, memory: int = MEMORY, patience: float = PATIENCE) -> None:
        """Nothing is started before it is needed."""
        self._memory, self._patience = memory, patience
        self._lock = Lock()
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._closed = False

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function gives; PhotoError with the reason if it raises, dies or takes too long."""
        with self._lock:
            try:
                pipe = self._started()
                pipe.send((function, arguments))
                if not pipe.poll(self._patience):
                    raise TimeoutError(f"it takes longer than {self._patience:.0f} s")
                answer = pipe.recv()
            except (OSError, EOFError) as error:
                self._kill()
                reason = str(error) if isinstance(error, TimeoutError) else "the program that decodes it broke down"
                answer = _Refused(reason)
        if isinstance(answer, _Refused):
            raise PhotoError(
                f"the picture cannot be used: {answer.reason}.",
                "a whole picture, JPEG, PNG, WebP, AVIF, GIF, BMP or TIFF",
                "save it anew with another program, or leave it out.",
            )
        return answer

    def leave(self) -> None:
        """Let nobody wait any longer; nothing is asked any more."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process at once, whatever it is at."""
        self.leave()
        with self._lock:
            self._kill()

    def _started(self) -> Connection:
        if self._closed:
            raise EOFError
        if self._pipe is None or self._process is None or not self._process.is_alive():
            self._kill()
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self._memory), daemon=True)
            self._process.start()
            theirs.close()
        return self._pipe

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


def _serve(pipe: Connection, memory: int) -> None:
    """Work until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started this
    _bound(memory)
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer = function(*arguments)
        except Exception as error:  # a broken file can make a decoder raise anything
            answer = _Refused(str(error) or type(error).__name__)
        pipe.send(answer)


def _bound(memory: int) -> None:
    """Let the process have so much more memory than it has now, where the system knows limits."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return
    most = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
