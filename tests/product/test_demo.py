"""The demo tells the whole story."""

from __future__ import annotations

import json
from pathlib import Path

from tag2box.product.demo import run_demo


def test_the_demo_finds_detects_and_draws(tmp_path: Path) -> None:
    said: list[str] = []
    results = run_demo(tmp_path, said.append, queries=5)
    assert results.localized >= 15
    assert results.localized_right >= 0.95 * results.localized
    assert min(results.ap50_voc_11_points, results.ap50_voc_area, results.ap50_coco_101_points) > 0.9
    assert len(said) == 4
    assert (tmp_path / "em.png").stat().st_size > 10_000
    saved = json.loads((tmp_path / "results.json").read_text())
    assert saved["localized_right"] == results.localized_right


def test_the_demo_can_be_run_again_in_the_same_folder(tmp_path: Path) -> None:
    first = run_demo(tmp_path, lambda _: None, queries=2)
    assert run_demo(tmp_path, lambda _: None, queries=2) == first
    other = run_demo(tmp_path, lambda _: None, queries=2, shots=6)
    assert other.ap50_voc_area > 0.9
