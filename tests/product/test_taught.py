"""A person's word in Python: it stays, the other photos follow, and it can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planted_extractor import planted_world
from planted_toys import TAGS, painted, quarter, toy_detector, toy_photos, untaught_detector
from tag2box import FewShotDetector
from tag2box.data import read_tags
from tag2box.errors import InputError, PhotoError, RunError, TagsError
from tag2box.product.album import Picture
from tag2box.product.class_file import load_classes
from tag2box.product.corrections import Shows, ShowsNot
from tag2box.product.events import Learned
from tag2box.product.moving import MovedBox
from tag2box.product.run import Run
from tag2box.product.taught import Taught, moved_boxes

GREEN = (41.0, 1.0, 79.0, 29.0)
"""A box that is drawn a little inside the green quarter of the first photo."""
Boxes = list[dict[str, tuple[float, ...]]]


@pytest.fixture
def detector(monkeypatch: pytest.MonkeyPatch) -> FewShotDetector:
    return toy_detector(monkeypatch)


def boxes(detector: FewShotDetector) -> Boxes:
    return [{label: found.box for label, found in each.items()} for each in detector.localizations_]


def test_the_other_photos_follow_one_word(detector: FewShotDetector) -> None:
    reds: Boxes = [{"toy": quarter(number)} for number in range(4)]
    blues: Boxes = [{"sea": quarter(number)} for number in range(4, 7)]
    assert boxes(detector) == reds + blues
    moved = detector.correct(0, "toy", GREEN)
    assert moved == [MovedBox(n, "toy", quarter(n), quarter(n + 1), 0.0) for n in (1, 2, 3)]
    greens: Boxes = [{"toy": GREEN}, {"toy": quarter(2)}, {"toy": quarter(3)}, {"toy": quarter(4)}]
    assert boxes(detector) == greens + blues
    said = detector.localizations_[0]["toy"]
    assert (said.doubt, said.absence) == (0.0, 0.0)
    assert [one.label for one in detector.detect(painted(9, green=2))] == ["toy"]
    assert len(detector.detect(painted(9, red=2))) == 0


def test_a_point_means_the_thing_around_it(detector: FewShotDetector) -> None:
    moved = detector.correct(0, "toy", point=((GREEN[0] + GREEN[2]) / 2, (GREEN[1] + GREEN[3]) / 2))
    assert boxes(detector)[0] == {"toy": quarter(1)}
    assert [one.photo for one in moved] == [1, 2, 3]
    detector.correct(0, "sea", point=(60, 45))  # nobody tagged it with that, and nobody looked for it there
    x0, y0, x1, y1 = boxes(detector)[0]["sea"]
    assert x0 <= 60 <= x1
    assert y0 <= 45 <= y1


def test_what_was_said_is_never_overwritten(detector: FewShotDetector) -> None:
    detector.correct(0, "toy", GREEN)
    for place in (1, 2, 3):  # all others say red
        detector.correct(place, "toy", quarter(place))
    detector.correct(4, "sea", absent=True)
    assert boxes(detector)[0]["toy"] == GREEN
    detector.correct(0, "toy", (3, 4, 30, 20))  # but by the same person
    assert boxes(detector)[0]["toy"] == (3.0, 4.0, 30.0, 20.0)


def test_a_thing_that_is_not_there_gets_no_box(detector: FewShotDetector) -> None:
    assert detector.correct(6, "sea", absent=True) == []
    assert boxes(detector)[6] == {}
    with pytest.warns(UserWarning, match="one photo alone shows it: 'sea'") as heard:
        gone = detector.correct(5, "sea", absent=True)
    assert heard[0].filename == __file__
    assert gone == [MovedBox(4, "sea", quarter(4), None, 0.0)]
    assert (detector.classes_, detector.left_out_, set(detector.verdicts_)) == (("toy",), ("sea",), {"toy"})
    detector.correct(0, "toy", quarter(0))  # what is left out already is not said again
    assert detector.correct(4, "sea", quarter(0)) == []  # one photo is enough if somebody says where
    assert (detector.classes_, detector.left_out_) == (("sea", "toy"), ())


def test_a_photo_can_show_what_it_was_not_tagged_with(detector: FewShotDetector) -> None:
    detector.correct(0, " sea ", quarter(2))
    assert set(boxes(detector)[0]) == {"sea", "toy"}


def test_what_was_said_can_be_taken_back_word_by_word(detector: FewShotDetector) -> None:
    with pytest.raises(RunError, match="no correction is left to undo"):
        detector.undo()
    before = detector.localizations_
    detector.correct(0, "toy", quarter(3))
    between = detector.localizations_
    detector.correct(0, "toy", GREEN)
    detector.correct(6, "sea", absent=True)
    assert detector.undo() == []
    assert boxes(detector)[6] == {"sea": quarter(6)}
    detector.undo()
    assert detector.localizations_ == between
    detector.correct(0, "toy", GREEN)
    assert boxes(detector)[0] == {"toy": GREEN}
    detector.undo()
    detector.undo()
    assert detector.localizations_ == before
    with pytest.raises(RunError, match="no correction is left to undo"):
        detector.undo()


def test_undo_tells_what_goes_back(detector: FewShotDetector) -> None:
    there = detector.correct(0, "toy", GREEN)
    back = detector.undo()
    assert [(one.photo, one.before, one.after) for one in back] == [(one.photo, one.after, one.before) for one in there]


def test_a_word_that_leaves_nothing_to_learn_is_refused_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    detector = untaught_detector(monkeypatch).fit(toy_photos()[:2], TAGS[:2])
    before = (detector._detector, detector.localizations_)
    with pytest.raises(TagsError, match="no tag has two photos"):
        detector.correct(0, "toy", absent=True)
    assert (detector._detector, detector.localizations_) == before
    detector.correct(0, "toy", GREEN)
    assert boxes(detector)[0] == {"toy": GREEN}


def test_only_the_class_that_was_spoken_of_is_learned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[object] = []
    detector = toy_detector(monkeypatch, heard.append)
    heard.clear()
    detector.correct(0, "toy", GREEN)
    assert {event.label for event in heard if isinstance(event, Learned)} == {"toy"}


def test_thresholds_and_classes_of_others_stay(
    detector: FewShotDetector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    detector.save(tmp_path / "old")
    grown = FewShotDetector.load(tmp_path / "old").add(
        [painted(number, green=number) for number in range(3)], [["leaf"]] * 3
    )
    grown.found_from("leaf", 0.7).found_from("toy", 0.6)
    grown.correct(0, "leaf", (1, 1, 39, 29))
    assert grown.classes_ == ("sea", "toy", "leaf")
    grown.save(tmp_path / "new")
    old, new = load_classes(tmp_path / "old"), load_classes(tmp_path / "new")
    assert [one.min_score for one in new.classes] == [0.5, 0.6, 0.7]
    np.testing.assert_array_equal(new.directions[:2], old.directions)
    with pytest.raises(RunError, match="no photo was tagged with 'toy'"):
        grown.correct(0, "toy", GREEN)


def test_a_run_and_python_learn_the_same_from_the_same_word(
    detector: FewShotDetector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """To the bit."""
    for number, (picture, (tag,)) in enumerate(zip(toy_photos(), TAGS, strict=True)):
        (tmp_path / "photos" / tag).mkdir(parents=True, exist_ok=True)
        picture.save(tmp_path / "photos" / tag / f"{number}.png")
    detector.correct(0, "toy", GREEN)
    detector.correct(6, "sea", absent=True)
    detector.save(tmp_path / "python.classes")
    with Run.begin(tmp_path / "run", read_tags(tmp_path / "photos"), planted_world()[0]) as run:
        run.extract()
        run.correct(Shows("toy/0.png", "toy", GREEN))
        run.correct(ShowsNot("sea/6.png", "sea"))
        found, by_run = run.find(), run.learn()
    by_python = load_classes(tmp_path / "python.classes")
    assert {f"{each[0].label}/{place}.png": each for place, each in enumerate(by_place(detector)) if each} == {
        photo: some for photo, some in found.boxes().items() if some
    }
    assert by_python.labels == by_run.labels
    np.testing.assert_array_equal(by_python.directions, by_run.directions)
    assert by_python.thresholds == by_run.thresholds


def by_place(detector: FewShotDetector) -> list[list[Any]]:
    return [list(each.values()) for each in detector.localizations_]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda one: one.correct(9, "toy", GREEN), r"9 is none of the tagged photos[\s\S]*0 to 6"),
        (lambda one: one.correct(-1, "toy", GREEN), "-1 is none of the tagged photos"),
        (lambda one: one.correct("nowhere.jpg", "toy", GREEN), r"nowhere\.jpg is none of the tagged photos"),
        (lambda one: one.correct(painted(77), "toy", GREEN), "a picture is none of the tagged photos"),
        (lambda one: one.correct(0, "mug", GREEN), r"tagged with 'mug'[\s\S]*one of sea, toy"),
        (lambda one: one.correct(0, 7, GREEN), "is not a text"),
        (lambda one: one.correct(0, "toy", (0, 0, 81, 60)), r"no box in photo 0[\s\S]*x1 ≤ 80 and 0 ≤ y0 < y1 ≤ 60"),
        (lambda one: one.correct(0, "toy", (0, 0, 60, 80)), "no box in photo 0"),
        (lambda one: one.correct(0, "toy", (-1, 0, 10, 10)), "no box in photo 0"),
        (lambda one: one.correct(0, "toy", (10, 10, 10, 20)), "no box in photo 0"),
        (lambda one: one.correct(0, "toy", (0, 0, float("nan"), 10)), "no box in photo 0"),
        (lambda one: one.correct(0, "toy", (0, 0, 10)), r"\(0, 0, 10\) is no box[\s\S]*four numbers"),
        (lambda one: one.correct(0, "toy", 7), "7 is no box"),
        (lambda one: one.correct(0, "toy"), r"'toy' in photo 0 was given no box[\s\S]*absent=True"),
        (lambda one: one.correct(0, "toy", GREEN, absent=True), "was given a box and as absent"),
        (lambda one: one.correct(0, "toy", GREEN, point=(9, 9)), "was given a box and a point"),
        (lambda one: one.correct(0, "toy", point=(9, 9, 9)), r"\(9, 9, 9\) is no point[\s\S]*two numbers"),
        (lambda one: one.correct(0, "toy", point=9), "9 is no point"),
        (lambda one: one.correct(0, "toy", point=(900, 9)), "nothing else is around that point"),
    ],
)
def test_wrong_words_are_explained_and_change_nothing(
    detector: FewShotDetector, wrong: Callable[[Any], None], words: str
) -> None:
    before = (detector._detector, detector.localizations_, detector._taught)
    with pytest.raises(InputError, match=words):
        wrong(detector)
    assert (detector._detector, detector.localizations_, detector._taught) == before


@pytest.mark.parametrize(
    "ask", [FewShotDetector.doubts, FewShotDetector.undo, lambda one: one.correct(0, "toy", GREEN)]
)
def test_without_tagged_photos_there_is_nothing_to_say(
    detector: FewShotDetector, tmp_path: Path, ask: Callable[[FewShotDetector], object]
) -> None:
    detector.save(tmp_path / "my.classes")
    for empty in (FewShotDetector(), FewShotDetector.load(tmp_path / "my.classes")):
        with pytest.raises(RunError, match=r"no tagged photos in memory[\s\S]*call fit or add first"):
            ask(empty)


def taught_with(detector: FewShotDetector, **edges: float) -> tuple[Taught, Taught]:
    """What a detector was taught, and the same with the box of the second photo reaching from 40 to another edge."""
    taught = detector._taught
    assert taught is not None
    (toys,) = (one for one in taught.found.learned if one.label == "toy")
    other = replace(toys.boxes[1], box=(40.0, 0.0, edges["right"], 30.0))
    learned = (replace(toys, boxes=(toys.boxes[0], other, *toys.boxes[2:])),)
    whole = replace(taught, found=replace(taught.found, learned=(toys,)))
    return whole, replace(taught, found=replace(taught.found, learned=learned))


def test_a_box_has_moved_if_it_overlaps_its_former_self_by_less_than_nine_tenths(detector: FewShotDetector) -> None:
    elsewhere = ShowsNot("0", "toy")
    assert moved_boxes(*taught_with(detector, right=76.0), elsewhere) == []
    (moved,) = moved_boxes(*taught_with(detector, right=75.9), elsewhere)
    assert moved[:4] == (1, "toy", quarter(1), (40.0, 0.0, 75.9, 30.0))
    assert moved.overlap == pytest.approx(35.9 / 40)
    assert moved_boxes(*taught_with(detector, right=75.9), ShowsNot("1", "toy")) == []


def test_a_photo_that_has_changed_is_not_corrected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    toys = toy_photos()
    for number, picture in enumerate(toys):
        picture.save(tmp_path / f"{number}.png")
    pixels = np.array(toys[1])
    given: list[Picture] = [tmp_path / "0.png", pixels, *toys[2:]]
    detector = untaught_detector(monkeypatch).fit(given, TAGS)
    painted(99, green=1).save(tmp_path / "0.png")
    pixels[:] = 7
    for place, name in enumerate(("0.png", "photo 1")):
        with pytest.raises(PhotoError, match=f"{name} has changed since"):
            detector.correct(place, "toy", GREEN)
    toys[0].save(tmp_path / "0.png")  # the same bytes as before
    detector.correct(0, "toy", GREEN)
    assert boxes(detector)[0] == {"toy": GREEN}
