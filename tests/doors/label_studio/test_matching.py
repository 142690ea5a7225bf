"""Tasks find their photos, whatever Label Studio calls them, and none finds a wrong one."""

from __future__ import annotations

import pytest

from tag2box.doors.label_studio.matching import Match, PhotoFinder

NAMES = ["mug/a b (1).jpg", "mug/c.jpg", "pen/c.jpg", "pen/50%41.png", "é.jpg"]


@pytest.mark.parametrize(
    ("reference", "match"),
    [
        ("/data/upload/3/0a1b2c3d-c.jpg", None),  # two photos are called so
        ("/data/upload/3/0a1b2c3d-a_b_1.jpg", Match("mug/a b (1).jpg", 1)),
        ("/data/upload/0a1b2c3d-%C3%A9.jpg", Match("é.jpg", 1)),
        ("http://localhost:8080/data/upload/3/0a1b2c3d-%C3%A9.jpg", Match("é.jpg", 1)),
        ("/data/local-files/?d=all/photos/mug/c.jpg", Match("mug/c.jpg", 2)),
        ("http://localhost:8080/data/local-files/?d=photos/pen/50%2541.png", Match("pen/50%41.png", 2)),
        ("https://pictures.example/pen/c.jpg?size=large", Match("pen/c.jpg", 2)),
        ("s3://bucket/mug/a%20b%20(1).jpg", Match("mug/a b (1).jpg", 2)),
        ("mug/c.jpg", Match("mug/c.jpg", 2)),
        ("/data/local-files/?d=fork/d.jpg", None),
        ("data:image/png;base64,é.jpg", None),
        ("", None),
        ("/data/local-files/?x=1", None),
    ],
)
def test_a_task_finds_its_photo(reference: str, match: Match | None) -> None:
    assert PhotoFinder(NAMES).find(reference) == match


def test_a_photo_of_another_folder_is_taken_only_if_there_is_no_other() -> None:
    assert PhotoFinder(["a.jpg", "x/b.jpg"]).find("y/b.jpg") == Match("x/b.jpg", 1)
    assert PhotoFinder(["y/b.jpg", "x/b.jpg"]).find("z/b.jpg") is None
