"""Tagged photos, as every reader gives them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tag2box.data.tags.tagged_photo import TaggedPhoto
from tag2box.errors import TagsError


@final
@dataclass(frozen=True)
class TagSet:
    """Photos in the order of their names, at least one of them with a tag."""

    folder: Path
    """Where the names of the photos begin"""
    photos: tuple[TaggedPhoto, ...]
    source: str
    """How the tags were given, such as "folders" or "COCO" """

    @classmethod
    def build(cls, folder: Path, tags: Mapping[Path, frozenset[str]], source: str) -> TagSet:
        """The photos at the paths, called by their way from ``folder``.

        If some lie elsewhere, names begin at the innermost folder that holds all photos.
        """
        _require_tags(folder, tags, source)
        if not all(path.is_relative_to(folder) for path in tags):
            folder = Path(os.path.commonpath([path.parent for path in tags]))
        photos = [TaggedPhoto(_name(path, folder), path, tags[path]) for path in tags]
        return cls(folder, tuple(sorted(photos, key=lambda photo: photo.name)), source)

    @property
    def classes(self) -> tuple[str, ...]:
        """Every tag that some photo has, sorted."""
        return tuple(sorted({tag for photo in self.photos for tag in photo.tags}))


def _require_tags(folder: Path, tags: Mapping[Path, frozenset[str]], source: str) -> None:
    if not tags:
        raise TagsError(f"there is no photo in {folder} ({source}).", "at least one tagged photo", "check the path.")
    if not any(tags.values()):
        raise TagsError(
            f"no photo in {folder} ({source}) has a tag; it has {len(tags)} without.",
            "at least one photo that shows something",
            "say what is in the photos, or check that the labels belong to them.",
        )


def _name(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).as_posix()
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise TagsError(
            f"the file name {name!r} in {folder} is not UTF-8.", "names that can be written down", "rename the file."
        ) from error
    return name
