"""Photos as a notebook shows them: boxes where they were found, in the colours of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from planted_toys import TAGS, painted, toy_detector, toy_photos, untaught_detector
from tag2box import FewShotDetector
from tag2box.errors import ClassFileError, PhotoError, RunError
from tag2box.product import showing
from tag2box.viz import LONGEST, DrawnBox, class_colours

COLOURS = class_colours(["sea", "toy"])
SCALE = 5
"""So many times larger than the planted photos, because words have a smallest size."""


def large(picture: Image.Image) -> Image.Image:
    return picture.resize((SCALE * picture.width, SCALE * picture.height), Image.Resampling.NEAREST)


@pytest.fixture
def detector(monkeypatch: pytest.MonkeyPatch) -> FewShotDetector:
    return untaught_detector(monkeypatch).fit(list(map(large, toy_photos())), TAGS)


def is_coloured(picture: Image.Image, label: str) -> np.ndarray:
    """(h, w), which pixels have the colour of a class."""
    return (np.asarray(picture) == list(bytes.fromhex(COLOURS[label][1:]))).all(axis=2)


def test_a_tagged_photo_has_the_box_of_its_tag(detector: FewShotDetector) -> None:
    shown = detector.show(1)
    assert shown.size == (400, 300)
    assert is_coloured(shown, "toy")[:, 200:202].sum() > 100  # the left edge of the red quarter
    assert not is_coloured(shown, "toy")[160:].any()
    assert not is_coloured(shown, "sea").any()
    assert np.array_equal(np.asarray(shown)[160:], np.asarray(large(toy_photos()[1]))[160:])


def test_all_ways_to_name_a_photo_show_the_same(detector: FewShotDetector, tmp_path: Path) -> None:
    given = list(map(large, toy_photos()))
    given[0].save(tmp_path / "0.png")
    detector.fit([str(tmp_path / "0.png"), *given[1:]], TAGS)
    by_place = detector.show(0)
    assert by_place == detector.show(tmp_path / "0.png") == detector.show(str(tmp_path / "0.png"))
    assert detector.show(1) == detector.show(given[1]) == detector.show(given[1].copy())


def test_it_says_how_far_to_doubt_and_what_a_person_said(
    detector: FewShotDetector, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: list[str] = []

    def picture_with(pixels: np.ndarray, size: object, boxes: Sequence[DrawnBox]) -> Image.Image:
        words.extend(one.words for one in boxes)
        return Image.fromarray(pixels)

    monkeypatch.setattr(showing, "picture_with", picture_with)
    detector.show(0)
    detector.correct(0, "toy", (210, 10, 390, 140))
    detector.show(0)
    detector.correct(0, "toy", absent=True)
    detector.show(0)
    assert words == ["toy? doubt 0.50", "toy, as you said"]


def test_a_new_photo_has_what_is_detected_and_below_it_what_is_not(detector: FewShotDetector) -> None:
    new = large(painted(9, red=0))
    shown, more = detector.show(new), detector.show(new, below=True)
    assert [one.label for one in detector.detect(new)] == ["toy"]
    assert is_coloured(shown, "toy")[148:150, :200].any()  # the lower edge of the box
    assert np.array_equal(np.asarray(shown)[160:], np.asarray(new)[160:])
    paler = np.abs(np.asarray(more).astype(int) - np.asarray(shown)).max(axis=2) > 0  # (h, w)
    assert paler.any()
    assert is_coloured(more, "toy").sum() == is_coloured(shown, "toy").sum()  # faint boxes have paler colours


def test_a_photo_of_nothing_is_shown_as_it_is(detector: FewShotDetector) -> None:
    nothing = large(painted(9))
    assert len(detector.detect(nothing)) == 0
    np.testing.assert_array_equal(np.asarray(detector.show(nothing)), np.asarray(nothing))


def test_what_was_given_is_not_drawn_into(detector: FewShotDetector) -> None:
    pixels = np.asarray(large(painted(9, red=0))).copy()
    picture = large(painted(8, red=0))
    for given in (pixels, picture):
        before = np.array(given)
        assert not np.array_equal(np.asarray(detector.show(given)), before)
        np.testing.assert_array_equal(np.asarray(given), before)


def test_a_class_keeps_its_colour_when_another_is_gone(detector: FewShotDetector) -> None:
    before = detector.show(0)
    detector.correct(6, "sea", absent=True)
    with pytest.warns(UserWarning, match="'sea'"):
        detector.correct(5, "sea", absent=True)
    assert detector.classes_ == ("toy",)
    assert detector.show(0) == before


@pytest.mark.parametrize(("size", "shown"), [((4000, 3000), (LONGEST, 1200)), ((40, 30), (40, 30))])
def test_pictures_are_never_larger_than_the_photo_nor_than_a_screen(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], shown: tuple[int, int]
) -> None:
    detector = toy_detector(monkeypatch)
    assert detector.show(painted(9, red=1).resize(size)).size == shown


def test_notebooks_can_show_it_and_files_hold_it(detector: FewShotDetector, tmp_path: Path) -> None:
    shown = detector.show(0)
    assert shown._repr_png_().startswith(b"\x89PNG")  # type: ignore[union-attr]
    shown.save(tmp_path / "shown.jpg")
    with Image.open(tmp_path / "shown.jpg") as again:
        assert again.size == shown.size


def test_a_loaded_detector_shows_new_photos(detector: FewShotDetector, tmp_path: Path) -> None:
    detector.save(tmp_path / "my.classes")
    loaded, new = FewShotDetector.load(tmp_path / "my.classes"), large(painted(9, red=0))
    assert loaded.show(new) == detector.show(new)
    with pytest.raises(RunError, match="no tagged photos in memory"):
        loaded.show(0)


def test_what_cannot_be_shown_is_explained(detector: FewShotDetector) -> None:
    with pytest.raises(RunError, match="9 is none of the tagged photos"):
        detector.show(9)
    with pytest.raises(PhotoError, match=r"nowhere\.jpg cannot be read"):
        detector.show("nowhere.jpg")
    with pytest.raises(ClassFileError, match="knows nothing yet"):
        FewShotDetector().show(painted(9))
