"""Photos that were given in Python are found again, whatever they were given as."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from planted_toys import painted
from tag2box.errors import RunError
from tag2box.product.album import Album


def test_files_are_known_by_their_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    album = Album(["a.jpg", Path("below/b.jpg"), str(tmp_path / "c.jpg")])
    assert album.names == ("a.jpg", str(Path("below/b.jpg")), str(tmp_path / "c.jpg"))
    monkeypatch.chdir(tmp_path.parent)  # paths were meant from where one was
    assert [album.place_of(tmp_path / name) for name in ("a.jpg", "below/b.jpg", "c.jpg")] == [0, 1, 2]
    assert album.pictures[0] == tmp_path / "a.jpg"
    assert album.places_of("a.jpg") == []
    assert album.place_of(2) == 2
    assert album.place_of(np.argmax([0, 1, 0])) == 1  # type: ignore[arg-type]


def test_pictures_are_known_by_themselves_or_by_their_pixels(tmp_path: Path) -> None:
    one, other = painted(1, red=0), painted(2, red=0)
    one.save(tmp_path / "one.png")
    stack = np.stack([np.asarray(painted(3)), np.asarray(painted(4))])  # every look at it is another array
    album = Album([one, other, *stack, tmp_path / "one.png"])
    assert album.names == (0, 1, 2, 3, str(tmp_path / "one.png"))
    assert [album.place_of(each) for each in (one, other, stack[0], stack[1])] == [0, 1, 2, 3]
    assert album.place_of(one.copy()) == 0
    for stranger in (painted(5), Image.new("RGB", (3, 3)), np.zeros((3, 3, 3), np.uint8), np.asarray(one), None):
        assert album.places_of(stranger) == []  # type: ignore[arg-type]


def test_what_was_given_twice_is_known_by_its_place() -> None:
    picture = painted(1)
    album = Album(["a.jpg", "b.jpg", "./a.jpg", picture, picture.copy()])
    assert album.names == (0, "b.jpg", 2, 3, 4)
    with pytest.raises(RunError, match=r"a\.jpg was given 2 times[\s\S]*\(0, 2\)[\s\S]*give its place"):
        album.place_of("a.jpg")
    assert album.place_of(picture) == 3  # and not its copy


def test_people_read_the_names_of_files_if_they_differ() -> None:
    album = Album(["x/a.jpg", "y/a.jpg", "y/b.jpg", painted(1)])
    assert [album.title(place) for place in range(4)] == [
        str(Path("x/a.jpg")),
        str(Path("y/a.jpg")),
        "b.jpg",
        "photo 3",
    ]


def test_a_broken_picture_is_a_stranger(tmp_path: Path) -> None:
    painted(1).save(tmp_path / "whole.png")
    content = (tmp_path / "whole.png").read_bytes()
    (tmp_path / "broken.png").write_bytes(content[: len(content) // 2])
    with Image.open(tmp_path / "whole.png") as whole, Image.open(tmp_path / "broken.png") as broken:
        assert whole.size == broken.size
        assert Album([whole]).places_of(broken) == []
