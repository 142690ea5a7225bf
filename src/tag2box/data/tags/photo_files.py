"""Which files are photos, and which photos are in a folder."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from PIL import Image

from tag2box.errors import TagsError


@cache
def photo_endings() -> frozenset[str]:
    """Endings of the files that Pillow opens, in small letters."""
    return frozenset(ending for ending, kind in Image.registered_extensions().items() if kind in Image.OPEN)


def is_hidden(path: Path) -> bool:
    """Whether a file or folder is not meant to be seen, such as ``.DS_Store``."""
    return path.name.startswith(".")


def is_photo(path: Path) -> bool:
    """Whether there is a file whose ending is one that Pillow opens."""
    return not is_hidden(path) and path.suffix.lower() in photo_endings() and os.path.isfile(path)


def entries_of(folder: Path) -> list[Path]:
    """The files and folders in a folder that are not hidden, sorted."""
    try:
        paths = [folder / name for name in os.listdir(folder)]
    except OSError as error:
        raise _unreadable(folder, error) from error
    return sorted((path for path in paths if not is_hidden(path)), key=Path.as_posix)


def files_below(folder: Path) -> list[Path]:
    """The files in a folder and in those below, sorted; what is hidden and folders that are links are passed over."""
    found: list[Path] = []
    try:
        for here, folders, files in os.walk(folder, onerror=_raise):
            folders[:] = [name for name in folders if not is_hidden(Path(name))]
            found += [Path(here, name) for name in files if not is_hidden(Path(name))]
    except OSError as error:
        raise _unreadable(folder, error) from error
    return sorted(found, key=Path.as_posix)


def photos_below(folder: Path) -> list[Path]:
    """The photos in a folder and in those below, sorted."""
    return [path for path in files_below(folder) if is_photo(path)]


def _raise(error: OSError) -> None:
    raise error


def _unreadable(folder: Path, error: OSError) -> TagsError:
    return TagsError(
        f"the folder {error.filename or folder} cannot be read: {error.strerror or error}.",
        "a folder that may be opened",
        "change its permissions, or give another folder.",
    )
