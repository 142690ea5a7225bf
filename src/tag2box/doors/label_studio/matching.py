"""Which photo of a run a task of Label Studio is about: both name a file, and seldom from the same folder."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import NamedTuple, final
from urllib.parse import parse_qs, unquote, urlsplit

from tag2box.data.formats.label_studio_regions import UPLOAD

NOT_IN_UPLOADS = re.compile(r"[^-\w.]")
"""What Label Studio takes out of the names of uploads, after spaces became underscores."""


class Match(NamedTuple):
    """A photo, and how many steps of its path the task has too."""

    name: str
    steps: int


@final
class PhotoFinder:
    """Finds photos by what tasks call them: by the longest end of the path that one photo alone has."""

    def __init__(self, names: Iterable[str]) -> None:
        """Names are paths with forward slashes."""
        self._by_end: dict[str, set[str]] = defaultdict(set)
        for name in names:
            for end in _ends(name):
                self._by_end[end].add(name)
            self._by_end[_as_uploaded(name)].add(name)

    def find(self, reference: str) -> Match | None:
        """The photo, or None if there is none or several could be meant."""
        for end in _ends(_path(reference)):
            found = self._by_end.get(end)
            if found:
                return Match(next(iter(found)), end.count("/") + 1) if len(found) == 1 else None
        return None


def _path(reference: str) -> str:
    """The path in what a task has as its photo: an upload, a local file, an address on the web or in a cloud."""
    if reference.startswith("data:"):
        return ""
    parts = urlsplit(reference)
    if parts.path.endswith("/data/local-files/"):
        return parse_qs(parts.query).get("d", [""])[0]
    plain = parts.path if parts.scheme else reference
    upload = UPLOAD.search(plain)
    return unquote(plain[upload.end() :] if upload else plain)


def _ends(name: str) -> list[str]:
    """The path without its first steps, longest first."""
    steps = [step for step in PurePosixPath(name).parts if step != "/"]
    return ["/".join(steps[first:]) for first in range(len(steps))]


def _as_uploaded(name: str) -> str:
    return NOT_IN_UPLOADS.sub("", PurePosixPath(name).name.strip().replace(" ", "_"))
