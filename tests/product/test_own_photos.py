"""A run that is given its photos one by one."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from planted_extractor import planted_world
from tag2box.data import TaggedPhoto
from tag2box.data.formats.coco import BOXES_NAME
from tag2box.errors import RunError
from tag2box.product.own_photos import add_photos, keeps_own, open_own
from tag2box.product.run import Run


def test_photos_come_one_by_one_and_stay(tmp_path: Path) -> None:
    model, _ = planted_world()
    with open_own(tmp_path / "run", model) as run:
        assert keeps_own(run)
        assert run.given.photos == ()
        assert run.sizes() == {}
        for number in (2, 0, 1):
            picture = Image.new("RGB", (80, 60), (number, 90, 90))
            picture.paste((250, 0, 0), (0, 0, 40, 30))
            path = run.given.folder / f"{number}.png"
            picture.save(path)
            add_photos(run, [TaggedPhoto(path.name, path, frozenset({"red"}))])
        run.extract()
        run.localize()
        assert run.row_at("0.png", (0.0, 0.0, 40.0, 30.0)) == 1
        assert run.row_at("0.png", (3.0, 0.0, 40.0, 30.0)) is None
    with open_own(tmp_path / "run", model) as again:
        assert [photo.name for photo in again.given.photos] == ["0.png", "1.png", "2.png"]
        assert again.sizes()["2.png"] == (60, 80)
        assert again.state.boxes == "fresh"
    assert (tmp_path / "run" / BOXES_NAME).is_file()


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("dear diary")
    with pytest.raises(RunError, match=r"holds 'diary\.txt'"):
        open_own(tmp_path, planted_world()[0])


def test_photos_of_other_runs_are_somebodys(tmp_path: Path) -> None:
    model, _ = planted_world()
    open_own(tmp_path / "run", model).close()
    (tmp_path / "run" / "photos").rmdir()
    (tmp_path / "run").rename(tmp_path / "moved")
    with Run.open(tmp_path / "moved", model) as run:
        assert not keeps_own(run)
