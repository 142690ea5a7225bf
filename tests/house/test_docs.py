"""The documentation holds together: links and anchors lead somewhere, pictures are there, the site builds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", flags=re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)[^)]*\)|<(?:img|a)\b[^>]*?(?:src|href)=\"([^\"]+)\"")
ELSEWHERE = ("http://", "https://", "mailto:")


def links(text: str) -> Iterator[str]:
    """Where links and pictures point to, if not out of this repository; code has none."""
    for markdown, html in LINK.findall(CODE.sub("", text)):
        if not (target := markdown or html).startswith(ELSEWHERE):
            yield target


def anchors(text: str) -> set[str]:
    """What a link can point to within a page: its headings, as code hosts and the site spell them."""
    headings = re.findall(r"^#+\s+(.+?)\s*$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.M)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower())) for heading in headings}


def leads_somewhere(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    place = page.parent / path if path else page
    return place.exists() and (not anchor or anchor in anchors(place.read_text()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_and_picture_leads_somewhere(page: Path) -> None:
    assert [target for target in links(page.read_text()) if not leads_somewhere(page, target)] == []


def test_links_are_seen_and_wrong_ones_are_told_from_right_ones() -> None:
    text = '[a](b.md) ![c](d.png "e") <img width="9" src="f.svg"> [g](https://h) `[i](j.md)`\n```\n[k](l.md)\n```\n'
    assert list(links(text)) == ["b.md", "d.png", "f.svg"]
    assert anchors("# What it is, for `you`\n```\n# not\n```\n## Two\n") == {"what-it-is-for-you", "two"}
    assert leads_somewhere(DOCS / "faq.md", "detector.md#what-it-reaches")
    assert not leads_somewhere(DOCS / "faq.md", "detector.md#what-it-dreams-of")
    assert not leads_somewhere(DOCS / "faq.md", "nowhere.md")


def test_every_decision_is_listed() -> None:
    listed = set(links((DOCS / "decisions" / "index.md").read_text()))
    assert listed == {page.name for page in (DOCS / "decisions").glob("0*.md")}


def test_the_site_builds_from_pages_that_exist_and_leaves_none_out(tmp_path: Path) -> None:
    """Strict: a page that the navigation names and that is not there, or the other way round, is an error."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert r"\tag{1.1}" in (tmp_path / "method.html").read_text()


def test_make_alone_says_what_it_can_make() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE)[0].split()
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # of make test
    done = subprocess.run(["make"], cwd=ROOT, env=alone, capture_output=True, text=True, check=True)
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [["make", target] for target in targets]
    assert all(len(line.split()) > 3 for line in done.stdout.splitlines())


def test_continuous_integration_runs_what_people_run() -> None:
    """The workflow calls the script, and the script the command of the README."""
    commands = re.findall(r"- run: (.+)", (ROOT / ".github" / "workflows" / "test.yml").read_text())
    assert commands == [".ci/run"]
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1] == "make test"
