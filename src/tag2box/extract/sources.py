"""Which photos are meant by files, folders and annotation files, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tag2box.data.tags.photo_files import photo_endings
from tag2box.errors import PhotoError


class PhotoFile(NamedTuple):
    """A picture on disk and the id of its bag."""

    image_id: str
    path: Path


def find_photos(places: Sequence[Path]) -> list[PhotoFile]:
    """Every picture in the folders (and theirs below), and every file that is named; each under an id of its own.

    A file of a folder is called by its path from there, any other by its name. Two that would have the same id are
    refused: a store could not tell them apart.
    """
    found = [photo for place in places for photo in _photos_at(place)]
    seen: dict[str, Path] = {}
    for photo in found:
        if seen.setdefault(photo.image_id, photo.path) != photo.path:
            raise PhotoError(
                f"{photo.path} and {seen[photo.image_id]} would both be called {photo.image_id!r}.",
                "a different id for every photo",
                "give the folder above both, or do them one after the other.",
            )
    if not found:
        raise PhotoError(
            f"there is no picture in {', '.join(map(str, places))}.",
            "files such as .jpg, .png or .webp",
            "check the folder.",
        )
    return [PhotoFile(image_id, path) for image_id, path in seen.items()]


def _photos_at(place: Path) -> Iterable[PhotoFile]:
    if place.is_dir():
        files = sorted(path for path in place.rglob("*") if path.suffix.lower() in photo_endings() and path.is_file())
        return [PhotoFile(path.relative_to(place).as_posix(), path) for path in files]
    if not place.exists():
        raise PhotoError(f"there is nothing at {place}.", "a picture or a folder of pictures", "check the path.")
    return [PhotoFile(place.name, place)]
