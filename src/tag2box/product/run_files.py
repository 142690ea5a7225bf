"""The files of a run, by name and form."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from tag2box.data.tags import TaggedPhoto, TagSet
from tag2box.errors import RunError, reason_of
from tag2box.files import LOCK_NAME, TEMPORARY_SUFFIX, take_lock, write_json

RUN_NAME = "run.json"
PHOTOS_NAME = "photos.json"
FEATURES_NAME = "features"
DRAWN_NAME = "drawn"
CORRECTIONS_NAME = "corrections.jsonl"
REPORT_NAME = "report.html"
FORMAT = "tag2box-run-2"
OLD_FORMAT = "tag2box-run-1"
"""Of runs that remember neither their tags nor what a person said."""


@final
@dataclass(frozen=True)
class RunFacts:
    """What ``run.json`` says."""

    photos: Path
    """Folder in which the names of the photos begin"""
    extractor: str
    further: Mapping[str, Any]
    """How the boxes were made, once there are some"""


def require_usable(folder: Path) -> None:
    """Refuse a folder that holds something else than a run; what the disk refuses is an OSError."""
    leftovers = {LOCK_NAME}
    if folder.is_dir() and (folder / RUN_NAME).is_file():
        return
    others = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    strangers = [name for name in others if name not in leftovers and not name.endswith(TEMPORARY_SUFFIX)]
    if strangers:
        raise RunError(
            f"{folder} cannot be used for a run: it holds {min(strangers)!r} and no {RUN_NAME}.",
            "a new or empty folder, or one of an earlier run",
            "choose another one with -o.",
        )


def read_facts(folder: Path) -> RunFacts:
    """What a run says of itself; a folder without one is refused."""
    path = folder / RUN_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] not in {FORMAT, OLD_FORMAT}:
            raise ValueError(f"the format is {content['format']!r}")
        further = {key: value for key, value in content.items() if key not in {"format", "photos", "extractor"}}
        return RunFacts(_photos_folder(folder, content), str(content["extractor"]), further)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(
            f"{folder} cannot be used as a run: {reason_of(error)}.",
            f"a folder that tag2box localize wrote, with {RUN_NAME} in it",
            "check the path, or choose another folder with -o.",
        ) from error


def _photos_folder(folder: Path, content: Mapping[str, Any]) -> Path:
    """Where the photos are now: where they were, or where they are if run and photos were moved together."""
    photos, from_here = Path(content["photos"]), content.get("photos_from_here")
    moved = Path(os.path.normpath(folder.resolve() / from_here)) if from_here is not None else photos
    return moved if not photos.is_dir() and moved.is_dir() else photos


def write_facts(folder: Path, facts: RunFacts) -> None:
    """Write what a run says of itself."""
    from_here = os.path.relpath(facts.photos, folder.resolve())
    about = {"photos": str(facts.photos), "photos_from_here": from_here, "extractor": facts.extractor}
    write_json(folder / RUN_NAME, {"format": FORMAT, **about, **facts.further})


def write_photos(folder: Path, given: TagSet) -> None:
    """Write which photos a run is about, and the tags that were given with them."""
    photos = [
        {"name": photo.name, "path": _path_from(given.folder, photo.path), "tags": sorted(photo.tags)}
        for photo in given.photos
    ]
    write_json(folder / PHOTOS_NAME, {"source": given.source, "photos": photos})


def read_photos(folder: Path, photos: Path) -> TagSet:
    """The photos of a run, whose names begin at ``photos``, with the tags that were given."""
    path = folder / PHOTOS_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        given = tuple(
            TaggedPhoto(str(each["name"]), photos / str(each["path"]), frozenset(map(str, each["tags"])))
            for each in content["photos"]
        )
        return TagSet(photos, given, str(content["source"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
        raise RunError(
            f"{path} cannot be read: {reason_of(error)}.",
            "the photos of a run, with their tags",
            "localize the photos again: what is extracted stays.",
        ) from error


def digest_of(*values: object) -> str:
    """A short name for what boxes were made from: the same values, the same digest."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=sorted).encode()).hexdigest()[:16]


def _path_from(folder: Path, path: Path) -> str:
    """From the folder where the photo lies below it, else the whole path."""
    whole = Path(os.path.abspath(path))
    return whole.relative_to(folder).as_posix() if whole.is_relative_to(folder) else str(whole)


def facts_of(folder: Path, photos: Path, extractor: str) -> RunFacts:
    """Of the run that is there, which must be of the same photos and model, or of a new one."""
    wanted = RunFacts(photos, extractor, {})
    if not (folder / RUN_NAME).exists():
        return wanted
    before = read_facts(folder)
    if (before.photos, before.extractor) != (wanted.photos, wanted.extractor):
        raise RunError(
            f"{folder} belongs to a run on {before.photos} with {before.extractor}.",
            f"a run on {wanted.photos} with {wanted.extractor}",
            "choose another folder with -o.",
        )
    return before


def require_extractor_of(folder: Path, facts: RunFacts, fingerprint: str) -> None:
    """Refuse a run of another model: its regions would mean nothing."""
    if facts.extractor != fingerprint:
        raise RunError(
            f"{folder} was made with {facts.extractor}.",
            f"a run of {fingerprint}",
            "give the model that it was made with, or localize the photos again into another folder.",
        )


def lock_run(folder: Path) -> int:
    """The folder's lock, which is made if need be; held until it is closed, or the process ends."""
    try:
        return take_lock(folder)
    except BlockingIOError:
        raise RunError(
            f"another process is at work on {folder}.", "one at a time", "wait until it is done, or use another folder."
        ) from None
