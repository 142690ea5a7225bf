"""The photos of an export: the same files under names that suit the format."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tag2box.errors import ExportError
from tag2box.product.exports.names import Naming
from tag2box.product.labelled import LabelledPhoto, LabelledPhotos

Put = Callable[[Path, Path], None]
"""``link_photo`` or ``copy_photo``: source, target."""


def put_photos(labelled: LabelledPhotos, folder: Path, naming: Naming, put: Put) -> tuple[LabelledPhoto, ...]:
    """Put every photo into ``folder``; the photos by their new names, relative to it."""
    names = naming([photo.name for photo in labelled.photos])
    folder.mkdir(parents=True)
    for photo, name in zip(labelled.photos, names, strict=True):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        put(labelled.folder / photo.name, target)
    return tuple(replace(photo, name=name) for photo, name in zip(labelled.photos, names, strict=True))


def link_photo(source: Path, target: Path) -> None:
    """Give a photo a second name, which takes no room; copy it where the disk cannot do that."""
    try:
        os.link(source.resolve(), target)  # a link to a symbolic link would lead nowhere from another folder
    except OSError:
        copy_photo(source, target)


def copy_photo(source: Path, target: Path) -> None:
    """Copy a photo, for a tool that may write to it."""
    shutil.copyfile(source, target)


def require_photos(labelled: LabelledPhotos) -> None:
    """Refuse to export photos that are not there, by the name of the first."""
    for photo in labelled.photos:
        if not (labelled.folder / photo.name).is_file():
            raise ExportError(
                f"the photo {labelled.folder / photo.name} is not there.",
                "every photo of the run where it was when the run was made",
                "put it back, or localize the photos again.",
            )
