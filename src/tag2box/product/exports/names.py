"""Where a photo goes in an export: a relative path that every tool can read, and that no other photo has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

Naming = Callable[[Sequence[str]], list[str]]
"""``tree_names`` or ``flat_names``."""

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
