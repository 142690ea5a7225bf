"""Which things are in which photos: what a person says, by one law of names."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tag2box.errors import TagsError

NONE = "_none"
"""The folder of photos that show none of the things."""

LONGEST_TAG = 200
SEPARATOR = ";"
FEWEST = 2
"""Photos of a thing: nothing can be common to one."""


@final
@dataclass(frozen=True)
class TaggedPhoto:
    """Which things are in which photo: all that a person has to say."""

    name: str
    """Unique in its set; where it can be, the path from the set's folder with forward slashes"""
    path: Path
    tags: frozenset[str]
    """Empty for a photo that shows none of the things"""


@final
@dataclass(frozen=True)
class TagSet:
    """Photos in the order of their names, at least one of them with a tag."""

    folder: Path
    """Where the names of the photos begin"""
    photos: tuple[TaggedPhoto, ...]
    source: str
    """How the tags were given, such as "folders" or "COCO" """
    skipped: tuple[Path, ...] = ()
    """Photos that lie among the others and cannot be opened here; ``say_skipped`` says why"""

    @classmethod
    def build(
        cls, folder: Path, tags: Mapping[Path, frozenset[str]], source: str, skipped: Collection[Path] = ()
    ) -> TagSet:
        """The photos at the paths, called by their way from ``folder``.

        If some lie elsewhere, names begin at the innermost folder that holds all photos.
        """
        _require_tags(folder, tags, source)
        if not all(path.is_relative_to(folder) for path in tags):
            folder = Path(os.path.commonpath([path.parent for path in tags]))
        photos = [TaggedPhoto(_name(path, folder), path, tags[path]) for path in tags]
        return cls(folder, tuple(sorted(photos, key=lambda photo: photo.name)), source, tuple(skipped))

    @property
    def classes(self) -> tuple[str, ...]:
        """Every tag that some photo has, sorted."""
        return tuple(sorted({tag for photo in self.photos for tag in photo.tags}))


def clean_name(word: str) -> str:
    """A name without spaces around it and with its accents composed: so that one thing has one name."""
    return unicodedata.normalize("NFC", word).strip()


def name_fault(name: object) -> str:
    """What is wrong with the name of a thing as it stands, as the end of a sentence; empty if it will do."""
    if not isinstance(name, str):
        return "is not a text"
    clean = clean_name(name)
    if not clean:
        return "is empty"
    if len(clean) > LONGEST_TAG:
        return f"has {len(clean)} characters"
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in name):
        return "has characters that cannot be shown"
    if clean == NONE:
        return "is the name of the folder for photos without any of the things: here, give such a photo no tag"
    return ""


def clean_tags(words: Iterable[str], where: str) -> frozenset[str]:
    """The words as tags: clean, empty ones dropped; ``where`` they stood is for the message."""
    tags = set()
    for word in words:
        tag = clean_name(word) if isinstance(word, str) else word
        fault = name_fault(tag) if tag != "" else ""
        if fault:
            raise TagsError(
                f"{where}: the tag {_shortened(tag)!r} {fault}.",
                f"a word or a few, at most {LONGEST_TAG} characters",
                "write another tag.",
            )
        tags.add(tag)
    return frozenset(tags - {""})


def split_tags(text: str) -> list[str]:
    """The words between the semicolons of a text."""
    return text.split(SEPARATOR)


def shared_tags(
    tags: Mapping[str, Collection[str]], one_is_enough: Collection[str] = ()
) -> tuple[dict[str, list[str]], list[str]]:
    """Tag → photos, for tags that can be learned, and the tags that one photo alone has; both sorted.

    Of the tags in ``one_is_enough`` somebody has said where the thing is, so that one photo will do. It is refused if
    nothing can be learned.
    """
    found: dict[str, list[str]] = {}
    for name, words in tags.items():
        for word in words:
            found.setdefault(word, []).append(name)
    enough = {word: found[word] for word in sorted(found) if len(found[word]) >= FEWEST or word in one_is_enough}
    left_out = sorted(set(found) - set(enough))
    if not enough:
        alone = f"; with one photo: {', '.join(left_out)}" if left_out else ""
        raise TagsError(
            f"no tag has two photos that can be used{alone}.",
            "at least two photos of the same thing; five to ten work well",
            "add photos.",
        )
    return enough, left_out


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


def _shortened(tag: object) -> object:
    return tag if not isinstance(tag, str) or len(tag) <= LONGEST_TAG else f"{tag[:40]}…"
