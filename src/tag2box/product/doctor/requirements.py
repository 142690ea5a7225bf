"""What the installed package says that it needs, and what is there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Self, final

PACKAGE = "tag2box"
FORM = re.compile(
    r"(?P<name>[\w.-]+?)\s*(?:(?P<relation>>=|==)\s*(?P<version>[\w.]+))?\s*(?:;\s*extra\s*==\s*['\"](?P<extra>\w+)['\"])?"
)


@final
@dataclass(frozen=True)
class Requirement:
    """A package by name and, where it matters, version; ``>=`` and ``==`` are all that tag2box asks with."""

    name: str
    relation: str
    version: str
    extra: str
    """Of tag2box, that wants it; empty for what is always needed"""

    @classmethod
    def parse(cls, line: str) -> Self | None:
        """The requirement in a line of a package's metadata; None if it is of another form."""
        found = FORM.fullmatch(line.strip())
        return cls(**found.groupdict(default="")) if found else None

    def __str__(self) -> str:
        return f"{self.name}{self.relation}{self.version}"

    def met_by(self, version: str) -> bool:
        """Whether a version will do; what follows its numbers, such as ``+cpu``, does not count."""
        if self.relation == "==":
            return _numbers(version) == _numbers(self.version)
        return not self.relation or _numbers(version) >= _numbers(self.version)


def required(extra: str = "") -> list[Requirement]:
    """What tag2box needs always, or for one of its extras."""
    parsed = [Requirement.parse(line) for line in metadata.requires(PACKAGE) or []]
    return [one for one in parsed if one is not None and one.extra == extra]


def required_python() -> Requirement | None:
    """The Python that tag2box asks for."""
    return Requirement.parse(f"Python{metadata.metadata(PACKAGE)['Requires-Python']}")


def installed(names: Iterable[str]) -> dict[str, str]:
    """The versions of those packages that are installed."""
    found = {name: installed_version(name) for name in names}
    return {name: version for name, version in found.items() if version is not None}


def installed_version(name: str) -> str | None:
    """The version of a package, read from its metadata, without importing it."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def installed_folder() -> Path | None:
    """Where the installed copy of tag2box is; None if the installation is a link to its sources."""
    folder = Path(str(metadata.distribution(PACKAGE).locate_file(PACKAGE)))
    return folder if folder.is_dir() else None


def _numbers(version: str) -> tuple[int, ...]:
    """(2, 13) for 2.13.0+cpu: zeros at the end make no difference."""
    found = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(number) for number in found.group().split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
