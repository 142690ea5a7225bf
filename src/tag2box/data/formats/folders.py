"""Tags as names of folders: ``photos/dog/rex.jpg`` shows a dog."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tag2box.data.photo_files import entries_of, files_below, is_photo, needs_heif, say_skipped
from tag2box.data.tags import NONE, TagSet, clean_tags
from tag2box.errors import TagsError

WAYS = (
    f"a folder for each tag (dog/, cat/, {NONE}/ for photos without any of the things), a metadata.csv with the "
    "columns file_name,tags, or annotations: COCO or Label Studio (.json), CVAT (.xml), YOLO (data.yaml), "
    "VOC (Annotations/)"
)
"""How tags can be given."""

PARTS_OF_DATASETS = {"annotations", "images", "jpegimages", "labels"}
"""Folders that annotation tools write; nobody tags a photo so."""

RUN_MARK = "run.json"
"""A folder with this file is what a run wrote, and no tag: a run may lie among the photos that it is of."""


def is_folder(place: Path) -> bool:
    """Whether a place is a folder at all: folders named after tags give no other sign."""
    return os.path.isdir(place)


def read_folders(place: Path) -> TagSet:
    """The photos of the folders in ``place``, each tagged with the name of its folder; those of ``_none`` have no tag.

    A photo that stands in several folders, with the same name and the same content, is one photo with several tags.
    """
    files: list[tuple[Path, frozenset[str]]] = []
    skipped: list[Path] = []
    for folder in _tag_folders(place):
        tags, below = _tags_of(folder), files_below(folder)
        skipped += [path for path in below if needs_heif(path)]
        files += [(photo, tags) for photo in _photos_of(folder, below)]
    if not files:
        raise TagsError(f"there is no photo in {place}.", WAYS, "check the path.")
    return TagSet.build(place, _joined(files), "folders", skipped)


def _tag_folders(place: Path) -> list[Path]:
    entries = entries_of(place)
    loose = [path.name for path in entries if is_photo(path) or needs_heif(path)]
    if loose:
        raise TagsError(
            f"{place} has photos without a tag ({len(loose)}): {loose[0]!r} lies in no tag's folder.",
            WAYS,
            _remedy(place),
        )
    folders = [path for path in entries if os.path.isdir(path) and not _leads_back(path, place)]
    return [folder for folder in folders if not os.path.isfile(folder / RUN_MARK)]


def _remedy(place: Path) -> str:
    """What to do about photos without a tag: there may be a file that has their tags."""
    files = [path.name for path in entries_of(place) if path.suffix.lower() in {".csv", ".json", ".jsonl", ".xml"}]
    if files:
        return f"if {files[0]!r} says what is in the photos, give that file itself."
    return f"move the photos into folders named after what they show ({NONE} for nothing), or give annotations."


def _leads_back(folder: Path, place: Path) -> bool:
    """Whether a folder is a link to the place itself, or to a folder around it."""
    return folder.is_symlink() and place.resolve().is_relative_to(folder.resolve())


def _tags_of(folder: Path) -> frozenset[str]:
    if folder.name == NONE:
        return frozenset()
    tags = clean_tags([folder.name], f"the folder {str(folder)!r}")
    if not tags or folder.name.strip().lower() in PARTS_OF_DATASETS:
        raise TagsError(f"the folder {str(folder)!r} is not named after a tag.", WAYS, _remedy(folder.parent))
    return tags


def _photos_of(folder: Path, files: Sequence[Path]) -> list[Path]:
    photos = [path for path in files if is_photo(path)]
    if files and not photos:
        elsewhere = "convert the photos or move the folder elsewhere; if it holds annotations, give that file itself."
        raise TagsError(
            f"the folder {str(folder)!r} has files such as {files[0].name!r}, and no photo.",
            "photos in a format that Pillow opens, such as .jpg, .png or .webp",
            say_skipped([path for path in files if needs_heif(path)]) or elsewhere,
        )
    return photos


def _joined(files: Sequence[tuple[Path, frozenset[str]]]) -> dict[Path, frozenset[str]]:
    """Path → tags, where copies of a photo count as the first of them."""
    times = Counter(path.name for path, _ in files)
    firsts: dict[tuple[str, str], Path] = {}
    joined: dict[Path, frozenset[str]] = {}
    for path, tags in files:
        content = _digest(path) if times[path.name] > 1 else ""
        first = firsts.setdefault((path.name, content), path)
        if first in joined and bool(joined[first]) != bool(tags):
            raise TagsError(
                f"the photo {path.name!r} stands in {str(path.parent)!r} and in {str(first.parent)!r}.",
                f"photos in {NONE} show none of the things",
                "take the photo out of one of the two folders.",
            )
        joined[first] = joined.get(first, frozenset()) | tags
    return joined


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TagsError(
            f"the photo {path} cannot be read: {error.strerror or error}.",
            "a file that may be opened",
            "check the file, or take it out of the folder.",
        ) from error
