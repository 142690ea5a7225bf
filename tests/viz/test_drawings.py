"""Boxes drawn into photos: size, colours, words and names of the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tag2box.errors import InputError
from tag2box.types import Detections
from tag2box.viz import (
    RIGHT,
    DrawnBox,
    PagePhoto,
    class_colours,
    detected_boxes,
    draw_detections,
    draw_photo,
    draw_sheet,
    drawing_paths,
    picture_with,
)
from tag2box.viz.drawings import LONGEST

COLOURS = class_colours(["cat", "dog", "emu"])


def navy(path: Path, longest: int) -> np.ndarray:
    """A stand-in for opening photos: all are 4 to 3."""
    return np.full((max(1, round(longest * 0.75)), longest, 3), (0, 0, 128), dtype=np.uint8)


def detections(*found: tuple[str, float, list[float]]) -> Detections:
    return Detections.ranked([box for *_, box in found], [score for _, score, _ in found], [name for name, *_ in found])


def drawn(folder: Path, found: Detections, size: tuple[int, int] = (300, 400)) -> np.ndarray:
    draw_detections(folder / "drawn.jpg", Path("photo.jpg"), size, found, COLOURS, navy)
    with Image.open(folder / "drawn.jpg") as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def near(picture: np.ndarray, colour: str) -> np.ndarray:
    """(h, w), where the picture has the colour, as well as a JPEG keeps it."""
    return np.abs(picture - np.array(list(bytes.fromhex(colour[1:])))).max(axis=2) < 40


# Names


def names(folder: Path, *photos: str) -> dict[str, str]:
    found = drawing_paths(folder, [(name, Path("photos") / name) for name in photos])
    return {name: path.relative_to(folder).as_posix() for name, path in found.items()}


def test_a_drawing_is_called_like_its_photo(tmp_path: Path) -> None:
    assert names(tmp_path, "x.jpg", "y.JPG", "z.jpeg", "below/q.png", "two.dots.webp", "bare") == {
        "x.jpg": "x.jpg", "y.JPG": "y.JPG", "z.jpeg": "z.jpeg", "below/q.png": "below/q.jpg",
        "two.dots.webp": "two.dots.jpg", "bare": "bare.jpg",
    }  # fmt: skip


@pytest.mark.parametrize(
    "photos",
    [
        ["a.png", "a.jpg"],
        ["a.png", "a.webp", "a.jpg", "a.png.jpg"],
        ["a.png", "A.webp", "a.WEBP", "A.WEBP"],  # some disks do not tell great letters from small ones
        ["a", "a.png", "a.jpg", "a.jpg.png", "a.png.jpg"],
    ],
)
def test_different_photos_have_different_drawings(tmp_path: Path, photos: list[str]) -> None:
    found = names(tmp_path, *photos)
    assert found.keys() == set(photos)
    assert len({name.casefold() for name in found.values()}) == len(photos)
    assert all(name.lower().endswith(".jpg") for name in found.values())
    assert {name: found[name] for name in photos if name.endswith(".jpg")} == {
        name: name for name in photos if name.endswith(".jpg")
    }


def test_no_drawing_takes_the_place_of_a_photo(tmp_path: Path) -> None:
    photos = [("a.jpg", tmp_path / "a.jpg"), ("below/b.png", tmp_path / "below" / "b.png")]
    for folder in (tmp_path, tmp_path / "other" / ".."):
        with pytest.raises(InputError, match=r"a\.jpg would lie among the photos"):
            drawing_paths(folder, photos)
    with pytest.raises(InputError, match="among the photos"):
        drawing_paths(tmp_path / "below", photos)
    assert len(drawing_paths(tmp_path / "drawn", photos)) == 2


# Sizes and colours


@pytest.mark.parametrize(("size", "expected"), [((3000, 4000), LONGEST), ((300, 400), 400), ((30, 40), 40)])
def test_a_drawing_is_never_larger_than_its_photo(tmp_path: Path, size: tuple[int, int], expected: int) -> None:
    picture = drawn(tmp_path, detections(("dog", 0.9, [4, 4, 20, 20])), size)
    assert picture.shape == (expected * 3 // 4, expected, 3)


def test_a_class_keeps_its_colour_whatever_else_is_in_the_photo(tmp_path: Path) -> None:
    alone = drawn(tmp_path, detections(("emu", 0.9, [40, 100, 200, 280])))
    beside = drawn(tmp_path, detections(("cat", 0.95, [220, 100, 380, 280]), ("emu", 0.9, [40, 100, 200, 280])))
    for picture in (alone, beside):
        assert near(picture, COLOURS["emu"])[150:250, 38:46].any(axis=1).all()  # the left edge of the box
    assert not near(alone, COLOURS["cat"]).any()
    assert near(beside, COLOURS["cat"])[150:250, 218:226].any(axis=1).all()


def test_words_stand_above_the_box_on_its_colour_or_inside_where_there_is_no_room(tmp_path: Path) -> None:
    above = near(drawn(tmp_path, detections(("dog", 0.9, [40, 100, 200, 280]))), COLOURS["dog"])
    inside = near(drawn(tmp_path, detections(("dog", 0.9, [40, 2, 200, 280]))), COLOURS["dog"])
    assert above[84:98, 50:90].mean() > 0.3  # letters are in it
    assert not above[106:270, 50:90].any()
    assert inside[6:17, 50:90].mean() > 0.3


@pytest.mark.parametrize(("size", "least"), [((300, 400), 15), ((1200, 1600), 40), ((60, 80), 15)])
def test_words_grow_with_the_picture(tmp_path: Path, size: tuple[int, int], least: int) -> None:
    height, width = size
    box = [0.2 * width, 0.6 * height, 0.9 * width, 0.9 * height]
    coloured = near(drawn(tmp_path, detections(("dog", 0.9, box)), size), COLOURS["dog"])
    assert coloured[: round(0.6 * height)].any(axis=1).sum() >= least


def test_words_do_not_lie_on_words(tmp_path: Path) -> None:
    """Two boxes that begin at one place: the second finds another place for its words."""
    found = detections(("dog", 0.9, [40, 100, 200, 280]), ("cat", 0.8, [40, 100, 390, 150]))
    picture = drawn(tmp_path, found)
    assert near(picture, COLOURS["dog"])[84:98, 50:90].mean() > 0.3
    assert near(picture, COLOURS["cat"])[104:116, 50:90].mean() > 0.3


def test_words_that_are_too_long_are_cut(tmp_path: Path) -> None:
    photo = PagePhoto(
        Path("a"), 300, 400, (DrawnBox(np.array([300, 100, 390, 200]), "a long name\nof things " * 9, RIGHT),)
    )
    draw_photo(tmp_path / "drawn.jpg", photo, navy)
    with Image.open(tmp_path / "drawn.jpg") as picture:
        label = near(np.asarray(picture).astype(int), RIGHT)[86, :]
    assert 300 < label.sum() <= 400


# Several classes on one thing


def test_boxes_at_one_place_are_one_box_with_all_words_the_surest_first() -> None:
    here, there = [40.0, 100.0, 200.0, 280.0], [42.0, 102.0, 200.0, 280.0]
    found = detections(("cat", 0.7, here), ("dog", 0.9, there), ("emu", 0.8, [220, 100, 380, 280]))
    dog, emu = detected_boxes(found, COLOURS)
    assert [(one.words, one.colour) for one in (dog, *dog.also)] == [
        ("dog 0.90", COLOURS["dog"]), ("cat 0.70", COLOURS["cat"])
    ]  # fmt: skip
    assert dog.box.tolist() == there
    assert (emu.words, emu.also) == ("emu 0.80", ())
    assert detected_boxes(Detections.ranked([], [], []), COLOURS) == ()


def test_boxes_that_only_touch_stay_apart() -> None:
    found = detections(("cat", 0.7, [0, 0, 100, 100]), ("dog", 0.9, [0, 0, 100, 60]), ("emu", 0.5, [7, 7, 7, 7]))
    assert [one.words for one in detected_boxes(found, COLOURS)] == ["dog 0.90", "cat 0.70", "emu 0.50"]


def test_only_the_first_of_many_words_are_written(tmp_path: Path) -> None:
    many = [DrawnBox(np.array([40, 150, 200, 280]), f"w{number}", RIGHT) for number in range(9)]
    tall = []
    for count in (4, 9):
        one = DrawnBox(many[0].box, "w", RIGHT, tuple(many[1:count]))
        draw_photo(tmp_path / "drawn.jpg", PagePhoto(Path("a"), 300, 400, (one,)), navy)
        with Image.open(tmp_path / "drawn.jpg") as picture:
            tall.append(int(near(np.asarray(picture).astype(int), RIGHT)[:150, 42].sum()))
    assert tall[0] == tall[1] >= 4 * 15


# Sheets


def test_a_sheet_has_a_tile_for_every_photo(tmp_path: Path) -> None:
    box = DrawnBox(np.array([40, 50, 200, 250], dtype=np.float32), "words", RIGHT)
    draw_sheet(tmp_path / "sheet.png", [PagePhoto(Path("photo.jpg"), 300, 400, (box,))] * 3, navy, columns=2)
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    assert sheet.shape == (2 * 165 + 18, 2 * 220 + 18, 3)
    blue = (sheet[..., 2] > 100) & (sheet[..., 0] < 40) & (sheet[..., 1] < 40)
    assert blue[80, 80]
    assert blue[80, 330]
    assert not blue[260, 350]
    assert near(sheet.astype(int), RIGHT)[80, :].sum() >= 4 * 2  # both edges of two boxes


# Faint boxes


def test_faint_boxes_are_pale_and_lie_below_the_others() -> None:
    pixels, size = navy(Path("photo.jpg"), 400), (300, 400)
    bright, pale = (DrawnBox(np.array([x, 100, x + 160, 280], np.float32), "", "#ffffff") for x in (40, 140))
    alone = np.asarray(picture_with(pixels, size, [], [pale])).astype(int)
    assert alone[150:250, 141].tolist() == [[102, 102, 178]] * 100  # two fifths of white on navy
    both = np.asarray(picture_with(pixels, size, [bright], [pale])).astype(int)
    assert (both[150:250, 41] == 255).all()
    assert (both[150:250, 141] == alone[150:250, 141]).all()
    over = np.asarray(picture_with(pixels, size, [bright], [bright]))
    assert np.array_equal(over[150:250, :60], np.asarray(picture_with(pixels, size, [bright]))[150:250, :60])
    assert (pixels == (0, 0, 128)).all()
