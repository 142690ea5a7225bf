"""Which files are photos, which photos are meant by files, folders and patterns, and what they are called."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from functools import cache
from glob import glob, has_magic
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from tag2box.boxes import Size
from tag2box.errors import PhotoError, TagsError, reason_of

HEIF_ENDINGS = frozenset({".heic", ".heics", ".heif", ".heifs", ".hif"})
"""Photos of telephones, which Pillow opens with the help of another package."""
HEIF_REMEDY = "pip install 'tag2box[heic]'"

ORIENTATION, ON_ITS_SIDE = 0x0112, {5, 6, 7, 8}
"""Where a camera says how it was held, and the values that swap height and width."""


class PhotoFile(NamedTuple):
    """A picture on disk and the id of its bag."""

    image_id: str
    path: Path


@cache
def open_heif() -> bool:
    """Let Pillow open HEIC and HEIF, if the package for that is installed; whether it is."""
    try:
        import_module("pi_heif").register_heif_opener()
    except ImportError:
        return False
    return True


@cache
def photo_endings() -> frozenset[str]:
    """Endings of the files that Pillow opens, in small letters."""
    open_heif()
    return frozenset(ending for ending, kind in Image.registered_extensions().items() if kind in Image.OPEN)


def is_hidden(path: Path) -> bool:
    """Whether a file or folder is not meant to be seen, such as ``.DS_Store``."""
    return path.name.startswith(".")


def is_photo(path: Path) -> bool:
    """Whether there is a file, not a hidden one, whose ending is one that Pillow opens."""
    return not is_hidden(path) and path.suffix.lower() in photo_endings() and os.path.isfile(path)


def needs_heif(path: Path) -> bool:
    """Whether a file is a photo that could be opened if another package were installed."""
    return not is_hidden(path) and path.suffix.lower() in HEIF_ENDINGS - photo_endings() and os.path.isfile(path)


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


def skipped_below(folder: Path) -> list[Path]:
    """The photos in a folder and in those below that cannot be opened here, sorted."""
    return [path for path in files_below(folder) if needs_heif(path)]


def expand_places(places: Sequence[str]) -> list[Path]:
    """Paths, with patterns such as ``*.jpg`` replaced by what they match, for shells that leave that to programs."""
    found: list[Path] = []
    for place in places:
        matches = sorted(glob(place, recursive=True)) if not Path(place).exists() and has_magic(place) else []
        found += [Path(match) for match in matches or [place]]
    return found


def find_photos(places: Sequence[Path]) -> list[PhotoFile]:
    """Every photo in the folders (and theirs below), and every file that is named; each once, under an id of its own.

    A photo of a folder is called by its path from there, any other by its name; where that would be the name of two,
    by so much of their paths as tells them apart. ``skipped_photos`` are those that cannot be opened here.
    """
    named: dict[Path, int] = {}
    for place in places:
        for path, steps in _photos_at(place):
            named.setdefault(path, steps)
    if not named:
        skipped = skipped_photos(places)
        raise PhotoError(
            f"there is no picture in {', '.join(map(str, places))}{' that can be opened here' if skipped else ''}.",
            "files such as .jpg, .png or .webp",
            say_skipped(skipped) or "check the folder.",
        )
    return [PhotoFile(image_id, path) for path, image_id in _told_apart(named).items()]


def skipped_photos(places: Sequence[Path]) -> list[Path]:
    """The photos at the places that cannot be opened here; ``say_skipped`` says why."""
    found = [path for place in places for path in (skipped_below(place) if place.is_dir() else [place])]
    return [path for path in dict.fromkeys(found) if needs_heif(path)]


def say_skipped(skipped: Sequence[Path]) -> str:
    """Which photos are left out and how to have them read, in a sentence; empty if none are."""
    if not skipped:
        return ""
    names = ", ".join(path.name for path in skipped[:3]) + (", …" if len(skipped) > 3 else "")
    said = "1 file is" if len(skipped) == 1 else f"{len(skipped):,} files are"
    return f"{said} HEIC or HEIF, which needs {HEIF_REMEDY}: {names}."


def photo_size(path: Path) -> Size:
    """Height and width of an upright photo, of which only the beginning is read."""
    open_heif()
    try:
        with Image.open(path) as picture:
            width, height = picture.size
            turned = picture.getexif().get(ORIENTATION) in ON_ITS_SIDE
    except Exception as error:  # a broken file can make a decoder raise anything
        raise PhotoError(
            f"nothing says how large the photo {path} is: {reason_of(error)}.",
            "a picture that is whole",
            "put the photo there, or replace it.",
        ) from error
    return (width, height) if turned else (height, width)


def _photos_at(place: Path) -> list[tuple[Path, int]]:
    """The photos of a place, and how many steps of its path each is called by."""
    if place.is_dir():
        return [(path, len(path.relative_to(place).parts)) for path in photos_below(place)]
    if not place.exists():
        raise PhotoError(f"there is nothing at {place}.", "a picture or a folder of pictures", "check the path.")
    return [] if needs_heif(place) else [(place, 1)]


def _told_apart(named: dict[Path, int]) -> dict[Path, str]:
    """Path → its last steps, as many as asked for, and more where those are another's too."""
    full = {path: Path(os.path.abspath(path)).parts for path in named}
    firsts: dict[tuple[str, ...], Path] = {}
    for path in named:
        firsts.setdefault(full[path], path)
    steps = {path: named[path] for path in firsts.values()}
    while True:
        ids = {path: "/".join(full[path][-count:]).removeprefix("//") for path, count in steps.items()}
        times = Counter(ids.values())
        alike = [path for path, image_id in ids.items() if times[image_id] > 1 and steps[path] < len(full[path])]
        if not alike:
            return ids
        for path in alike:
            steps[path] += 1


def _raise(error: OSError) -> None:
    raise error


def _unreadable(folder: Path, error: OSError) -> TagsError:
    return TagsError(
        f"the folder {error.filename or folder} cannot be read: {error.strerror or error}.",
        "a folder that may be opened",
        "change its permissions, or give another folder.",
    )
