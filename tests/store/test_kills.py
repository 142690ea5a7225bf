"""A small number of kills; ``make kill`` does a hundred."""

from __future__ import annotations

from pathlib import Path

from kill_writer import FIRST_IMAGES, kill_many


def test_kills_lose_nothing_that_was_sealed(tmp_path: Path) -> None:
    report = kill_many(tmp_path, kills=9, seed=1)
    assert report.images >= FIRST_IMAGES
    assert report.leftovers > 0  # at least one kill hit the middle of a write
