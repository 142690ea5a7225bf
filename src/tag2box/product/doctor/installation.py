"""Python, tag2box itself, and the packages that it cannot do without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tag2box.product.doctor.findings import Finding, ok, problem
from tag2box.product.doctor.requirements import Requirement

AGAIN = "install tag2box again: pip install --force-reinstall --no-deps tag2box, or pip install . in its sources."


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
