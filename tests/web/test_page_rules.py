"""Rules for the page that tools know: its types hold, and people with screen readers and without a mouse can use it.

The tools come from npm: ``make page`` installs them and names their folder.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def tools() -> Path:
    folder = os.environ.get("TAG2BOX_PAGE_TOOLS")
    if not folder:
        pytest.skip("TAG2BOX_PAGE_TOOLS is not set: make page sets it")
    return Path(folder)


def test_types_hold(tools: Path) -> None:
    done = subprocess.run(
        [tools / ".bin" / "tsc", "--project", PROJECT / "tsconfig.json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.fixture
def judged(lenient_page: Page, tools: Path) -> Page:
    """The page, with the judge in it."""
    lenient_page.add_script_tag(path=tools / "axe-core" / "axe.min.js")
    return lenient_page


def faults(page: Page) -> list[str]:
    """What axe finds wrong with what is shown."""
    found: list[dict[str, Any]] = page.evaluate("axe.run()")["violations"]
    return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html']}" for one in found]


def test_the_grid_has_no_barriers(judged: Page) -> None:
    assert faults(judged) == []
    judged.locator("#many summary").click()
    judged.locator("#classes summary").first.click()
    expect(judged.locator(".scores .own").first).to_be_visible()
    assert faults(judged) == []


def test_an_open_photo_has_no_barriers(judged: Page) -> None:
    judged.locator("#grid button").first.click()
    expect(judged.locator("#boxes .offer").first).to_be_attached()
    assert faults(judged) == []


@pytest.mark.parametrize("name", ["help", "try"])
def test_dialogs_have_no_barriers(judged: Page, name: str) -> None:
    judged.locator(f"#open-{name}").click()
    expect(judged.locator(f"#{name}")).to_be_visible()
    assert faults(judged) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_telephone_there_are_no_barriers(judged: Page, scheme: Any) -> None:
    judged.emulate_media(color_scheme=scheme)
    judged.set_viewport_size({"width": 390, "height": 780})
    assert faults(judged) == []
