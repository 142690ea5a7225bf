"""Python, tag2box itself, and the packages that it says it cannot do without."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.resources import as_file, files
from pathlib import Path
from typing import Self, final

from tag2box.product.doctor.findings import Finding, ok, problem

PACKAGE = "tag2box"
FORM = re.compile(
    r"(?P<name>[\w.-]+?)\s*(?:(?P<relation>>=|==)\s*(?P<version>[\w.]+))?\s*(?:;\s*extra\s*==\s*['\"](?P<extra>\w+)['\"])?"
)
AGAIN = "install tag2box again: pip install --force-reinstall --no-deps tag2box, or pip install . in its sources."


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


def check_python() -> Finding:
    """Whether this Python is new enough."""
    return python_finding(platform.python_version(), required_python())


def check_package() -> Finding:
    """Whether the code that runs is the package that was installed."""
    version = installed_version(PACKAGE)
    with as_file(files(PACKAGE)) as running:
        return package_finding(version, running, installed_folder() if version else None)


def check_dependencies() -> Finding:
    """Whether every package that tag2box needs is there, in a version that will do."""
    return dependencies_finding(wanted := required(), installed(one.name for one in wanted))


def python_finding(version: str, wanted: Requirement | None) -> Finding:
    """Whether this Python is new enough."""
    if wanted is not None and not wanted.met_by(version):
        return problem("python", f"{version} is older than {wanted}.", f"install {wanted} and tag2box in it.")
    return ok("python", version)


def package_finding(version: str | None, running: Path, installed: Path | None) -> Finding:
    """Whether the code that runs is the package that was installed, if that is a copy, and where it is."""
    if version is None:
        return problem("tag2box", f"runs from {running} and is not installed.", AGAIN)
    if installed is not None and installed.resolve() != running.resolve():
        remedy = f"start it elsewhere, or without PYTHONPATH, so that {running} does not come first."
        return problem("tag2box", f"{version} is installed in {installed}, but {running} runs.", remedy)
    return ok("tag2box", f"{version} in {running}")


def dependencies_finding(wanted: Sequence[Requirement], versions: Mapping[str, str]) -> Finding:
    """Whether every package is there, in a version that will do."""
    if wrong := shortcomings(wanted, versions):
        needed = " ".join(f"'{one}'" for one in wanted if _falls_short(one, versions))
        return problem("dependencies", f"{', '.join(wrong)}.", f"pip install {needed}")
    return ok("dependencies", with_versions(wanted, versions))


def shortcomings(wanted: Sequence[Requirement], versions: Mapping[str, str]) -> list[str]:
    """What is missing, or there in another version, in words."""
    return [
        f"{one.name} {versions[one.name]} instead of {one}" if one.name in versions else f"{one.name} is missing"
        for one in wanted
        if _falls_short(one, versions)
    ]


def with_versions(wanted: Sequence[Requirement], versions: Mapping[str, str]) -> str:
    """The packages, each with its version."""
    return ", ".join(f"{one.name} {versions[one.name]}" for one in wanted)


def _falls_short(wanted: Requirement, versions: Mapping[str, str]) -> bool:
    return wanted.name not in versions or not wanted.met_by(versions[wanted.name])
