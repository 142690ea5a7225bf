"""Photos that a file speaks of, and where they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tag2box.errors import TagsError


class Mention(NamedTuple):
    """A photo as a file speaks of it."""

    candidates: Sequence[Path]
    """Where the photo may be, the likeliest place first"""
    tags: frozenset[str]
    where: str
    """The place in the file, such as "line 3" """


def inside(folder: Path, name: str, where: str) -> Path:
    """The path of a name in a folder; a name that leads out of the folder is refused."""
    path = Path(name)
    if not name.strip() or path.is_absolute() or path.drive or ".." in path.parts:
        raise TagsError(
            f"{where}: the photo name {name!r} does not stay in its folder.",
            "a path such as dogs/rex.jpg, without .. and without a leading slash",
            "write the name as seen from the folder of the photos.",
        )
    return folder / path


def find_mentioned(mentions: Iterable[Mention], file: Path) -> dict[Path, frozenset[str]]:
    """The path of every photo → its tags. Photos that are missing or mentioned twice are refused by name."""
    tags: dict[Path, frozenset[str]] = {}
    places: dict[Path, str] = {}
    missing: list[Mention] = []
    for mention in mentions:
        path = next((path for path in mention.candidates if os.path.isfile(path)), None)
        if path is None:
            missing.append(mention)
        elif path in tags:
            raise _twice(path, places[path], mention.where, file)
        else:
            tags[path], places[path] = mention.tags, mention.where
    if missing:
        raise _missing(missing, file)
    return tags


def _twice(path: Path, first: str, second: str, file: Path) -> TagsError:
    return TagsError(
        f"{file} names the photo {str(path)!r} twice: in {first} and in {second}.",
        "every photo once, with all its tags",
        "join the two.",
    )


def _missing(missing: Sequence[Mention], file: Path) -> TagsError:
    first = missing[0]
    others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    return TagsError(
        f"{file}, {first.where}: there is no photo {str(first.candidates[0])!r}{others}.",
        "the photo at " + " or ".join(repr(str(path)) for path in first.candidates),
        "put the photo there, correct its name (upper and lower case count), or take it out of the file.",
    )
