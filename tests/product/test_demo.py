"""The demo tells the whole story, with the model and the photos that ship."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tag2box.product.demo import DemoResults, run_demo
from tag2box.product.events import Advanced, silent
from tag2box.viz import RIGHT


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DemoResults]:
    folder = tmp_path_factory.mktemp("demo")
    return folder, run_demo(folder, lambda _: None, silent)


def test_a_person_would_call_most_boxes_right(finished: tuple[Path, DemoResults]) -> None:
    _, results = finished
    assert results.localized == 32
    assert results.localized_right >= 0.7 * results.localized
    assert results.ap50_voc_area > 0.7


def test_the_page_holds_every_photo_and_needs_no_network(finished: tuple[Path, DemoResults]) -> None:
    folder, results = finished
    page = (folder / "report.html").read_text()
    assert page.count("data:image/jpeg;base64") == results.support_photos + results.query_photos  # each of them once
    assert page.count("<figure") == results.localized + results.query_photos
    assert "http" not in page.replace("http-equiv", "")
    assert page.count(f"--colour:{RIGHT}") >= results.localized_right
    assert (folder / "em.png").stat().st_size > 10_000
    assert (folder / "boxes.png").stat().st_size > 100_000
    assert json.loads((folder / "results.json").read_text())["localized_right"] == results.localized_right


def test_a_second_run_in_the_same_folder_extracts_nothing(finished: tuple[Path, DemoResults]) -> None:
    folder, results = finished
    heard: list[object] = []
    assert run_demo(folder, lambda _: None, heard.append) == results
    assert not [event for event in heard if isinstance(event, Advanced) and event.stage == "extract"]
    assert (results.support_photos, results.query_photos) == (24, 12)
