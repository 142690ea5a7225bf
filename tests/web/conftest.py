"""Studios and browsers for the tests of the page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, sync_playwright
from starlette.testclient import TestClient

from planted_studio import open_planted, served, settle, write_photos
from tag2box.web.app import make_app
from tag2box.web.gate import Gate
from tag2box.web.studio import Studio

PORT = 8642


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return write_photos(tmp_path / "photos")


@pytest.fixture
def studio(photos: Path, tmp_path: Path) -> Iterator[Studio]:
    """A studio that has found what there is."""
    opened = open_planted(photos, tmp_path / "run")
    opened.start()
    settle(opened)
    yield opened
    opened.close()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Studio]:
    """A studio without photos."""
    opened = open_planted(None, tmp_path / "own")
    opened.start()
    yield opened
    opened.close()


def let_in(studio: Studio) -> TestClient:
    """A client with the cookie."""
    gate = Gate(make_app(studio), PORT)
    client = TestClient(gate, base_url=f"http://127.0.0.1:{PORT}", raise_server_exceptions=False)
    assert client.get(f"/enter?token={gate.token}").status_code == 200
    return client


@pytest.fixture
def client(studio: Studio) -> TestClient:
    return let_in(studio)


@pytest.fixture
def empty_client(empty: Studio) -> TestClient:
    return let_in(empty)


@pytest.fixture(scope="session")
def chromium() -> str:
    """A Chromium that is there: CHROMIUM names it, or it is found by its name."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
    if not Path(path).is_file():
        pytest.skip("no Chromium is installed: apt-get install chromium, or name one in CHROMIUM")
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as api, api.chromium.launch(executable_path=chromium) as found:
        yield found


@contextmanager
def served_page(browser: Browser, studio: Studio, troubles: list[str], *, lenient: bool = False) -> Iterator[Page]:
    """The studio's page, ready."""
    with served(studio) as server:
        context = browser.new_context(viewport={"width": 1000, "height": 700}, bypass_csp=lenient)
        watch(context, urlsplit(server.address).netloc, troubles)
        opened = context.new_page()
        opened.goto(server.address)
        opened.wait_for_selector("html[data-ready]", state="attached")
        yield opened
        context.close()
    assert not troubles, troubles


def watch(context: BrowserContext, ours: str, troubles: list[str]) -> None:
    """Let nobody speak to others, and listen to complaints."""

    def judge(route: Route) -> None:
        if urlsplit(route.request.url).netloc == ours:
            route.continue_()
            return
        troubles.append(f"request to {route.request.url}")
        route.abort()

    context.route("**/*", judge)
    context.on("weberror", lambda error: troubles.append(str(error.error)))
    context.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)


@pytest.fixture
def troubles() -> list[str]:
    """What the page complained about; a test that provokes something takes it out."""
    return []


@pytest.fixture
def page(browser: Browser, studio: Studio, troubles: list[str]) -> Iterator[Page]:
    """The page of a studio that has found what there is. Requests to others and errors fail the test."""
    with served_page(browser, studio, troubles) as opened:
        yield opened


@pytest.fixture
def lenient_page(browser: Browser, studio: Studio, troubles: list[str]) -> Iterator[Page]:
    """The same, and scripts may be put into it, which its own rules forbid."""
    with served_page(browser, studio, troubles, lenient=True) as opened:
        yield opened


@pytest.fixture
def empty_page(browser: Browser, empty: Studio, troubles: list[str]) -> Iterator[Page]:
    with served_page(browser, empty, troubles) as opened:
        yield opened
