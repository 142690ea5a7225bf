"""What an export puts on the disk: photos, under names that every tool can read and no other photo has, and XML."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element, indent, tostring

from tag2box.data.labelled import LabelledPhoto, LabelledPhotos
from tag2box.errors import ExportError

Naming = Callable[[Sequence[str]], list[str]]
"""``tree_names`` or ``flat_names``."""

Put = Callable[[Path, Path], None]
"""``link_photo`` or ``copy_photo``: source, target."""

LONGEST_STEM = 200
"""Bytes; file systems take 255 for the whole name."""

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NOT_IN_LINES = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
NOT_IN_LISTS = re.compile(rf"^\.|{NOT_IN_LINES.pattern}|[\s\"#%*:<>?|\\]")
"""What hides a file, ends its name or begins a comment in a list of files, or is forbidden on some systems."""


def tree_names(names: Sequence[str]) -> list[str]:
    """Names with their folders; only what XML cannot hold, or would lead out of the export, becomes ``_``."""
    return _distinct((PurePosixPath(*_steps(NOT_IN_XML.sub("_", name))) for name in names), str)


def flat_names(names: Sequence[str]) -> list[str]:
    """Names without folders, ``cup/a b.jpg`` as ``cup__a_b.jpg``; no two differ in their ending alone."""
    return _distinct((_flat(name) for name in names), lambda path: path.stem)


def _steps(name: str) -> list[str]:
    """The folders and the file of a path; a step up becomes ``_``, and the root is left out."""
    return ["_" if step == ".." else step for step in PurePosixPath(name).parts if step != "/"]


def _flat(name: str) -> PurePosixPath:
    path = PurePosixPath(NOT_IN_LISTS.sub("_", "__".join(_steps(name))))
    stem = path.stem.encode()[-LONGEST_STEM:].decode(errors="ignore")
    return PurePosixPath(stem + path.suffix)


def _distinct(paths: Iterable[PurePosixPath], key: Callable[[PurePosixPath], str]) -> list[str]:
    """The paths in their order; one whose key is taken, in whatever case, gets the first number that is free."""
    taken: set[str] = set()
    distinct = []
    for path in paths:
        candidate, number = path, 1
        while key(candidate).casefold() in taken:
            number += 1
            candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")
        taken.add(key(candidate).casefold())
        distinct.append(str(candidate))
    return distinct


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


def leaf(tag: str, text: str | int) -> Element:
    """An XML element around a text."""
    element = Element(tag)
    element.text = str(text)
    return element


def branch(tag: str, *children: Element, **attributes: str) -> Element:
    """An XML element around others."""
    element = Element(tag, attributes)
    element.extend(children)
    return element


def write_xml(path: Path, root: Element) -> None:
    """Write an indented tree, without the declaration that UTF-8 does not need and Label Studio refuses."""
    indent(root)
    path.write_text(tostring(root, encoding="unicode") + "\n", encoding="utf-8")
