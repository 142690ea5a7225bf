"""Photos as the page shows them: re-encoded, bounded, made when they are asked for, small ones kept in the run."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import final

from tag2box.errors import PhotoError
from tag2box.files import replacing
from tag2box.web.child import Child, shown

THUMBNAIL, LARGE = 240, 1600
"""Longest sides in pixels."""
THUMBNAILS_NAME = "thumbs"
IN_MEMORY = 12
"""Large photos that are kept in memory: the one that is open, and its neighbours."""


@final
class Thumbnails:
    """Small and large copies of photos."""

    def __init__(self, folder: Path, child: Child) -> None:
        """``folder`` is made with the first small one."""
        self._folder, self._child = folder, child
        self._large = lru_cache(maxsize=IN_MEMORY)(self._make)

    def small(self, path: Path) -> bytes:
        """For the grid; once made it is kept as long as the file stays the same."""
        kept = self._folder / f"{_key(path)}.webp"
        if not kept.is_file():
            content = self._make(_key(path), path, THUMBNAIL)
            self._folder.mkdir(exist_ok=True)
            with replacing(kept) as temporary:
                temporary.write_bytes(content)
        return kept.read_bytes()

    def large(self, path: Path) -> bytes:
        """For the opened photo."""
        return self._large(_key(path), path, LARGE)

    def _make(self, _key: str, path: Path, longest: int) -> bytes:
        content: bytes = self._child.ask(shown, path, longest)
        return content


def _key(path: Path) -> str:
    """A name that changes with the file."""
    try:
        about = path.stat()
    except OSError as error:
        raise PhotoError(f"there is no photo at {path.name}.", "the file of the photo", "put it back.") from error
    return hashlib.sha256(f"{path}|{about.st_mtime_ns}|{about.st_size}".encode()).hexdigest()[:32]
