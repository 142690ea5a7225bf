"""The pages that describe the house name rooms that are there, and all floors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tag2box"
PAGES = [ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md"]
PATH = re.compile(r"(?<![\w./-])((?:[a-z_0-9]+/)+(?:[a-z_0-9]+\.py)?)(?![\w-])")
ELSEWHERE = ("src/", "docs/", "tests/", "scripts/", "recipes/", "benchmarks/", "experiments/*", "photos/", "features/")
"""What begins so is not below the package."""


def paths_in(text: str) -> set[str]:
    """Files and folders of the package that a page names."""
    return {path for path in PATH.findall(text) if not path.startswith(ELSEWHERE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_room_on_the_page_is_there(page: Path) -> None:
    named = paths_in(page.read_text())
    assert len(named) >= 10
    assert not sorted(path for path in named if not (SOURCE / path).exists())


def test_a_room_that_is_not_there_would_be_noticed() -> None:
    assert paths_in("see `methods/nowhere.py` and data/formats/, not docs/method.md") == {
        "methods/nowhere.py",
        "data/formats/",
    }


def test_the_drawing_has_every_part() -> None:
    drawing = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    parts = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if not path.name.startswith("_")}
    missing = parts - {"assets", "py.typed"} - set(re.findall(r"\w+", drawing))
    assert not missing
