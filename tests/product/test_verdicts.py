"""What is said of each class, and what a person is told to do about it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from learned_by_hand import class_by_hand
from tag2box.data import FoundBox
from tag2box.product.learning import LearnedClass, Lesson
from tag2box.product.verdicts import FEW, GOOD, ONE_SCENE, POOR, Verdict, judge_classes

ELSEWHERE = "Draw a box in one of them, or add photos taken elsewhere."
DRAW, DRAW_OR_ADD = "Draw a box in one of them.", "Draw a box in one of them, or add photos."


def learned(
    label: str,
    doubts: Sequence[float],
    *,
    photos: Sequence[str] = (),
    absences: Sequence[float] = (),
    scene: float = 0.0,
    drawn: Sequence[str] = (),
) -> LearnedClass:
    """A class of which only what verdicts ask about is known."""
    names = tuple(photos) or tuple(f"{label}-{number}" for number in range(len(doubts)))
    absent = list(absences) or [0.0] * len(doubts)
    boxes = tuple(FoundBox(label, (0.0, 0.0, 1.0, 1.0), 1.0, d, a) for d, a in zip(doubts, absent, strict=True))
    lesson = Lesson(label, names, regions=dict.fromkeys(drawn, 0))
    return class_by_hand(lesson, boxes, scene=scene)


def verdict(*doubts: float, absences: Sequence[float] = (), scene: float = 0.0) -> Verdict:
    return judge_classes([learned("mug", doubts, absences=absences, scene=scene)])["mug"]


def test_a_class_was_found_if_enough_of_its_boxes_are_probably_right() -> None:
    assert verdict(0.0, 0.1) == Verdict("found", "Found.")
    assert verdict(0.0, 0.4) == Verdict("found", "Found.")  # four fifths
    assert verdict(0.1, 0.1, scene=0.9) == Verdict("found", "Found.")
    assert verdict(0.0, 0.41).state == "unsure"
    assert verdict(0.5, 0.5).state == "unsure"
    assert verdict(0.5, 0.51).state == "failed"
    assert (GOOD, POOR) == (0.8, 0.5)


@pytest.mark.parametrize(
    ("doubt", "state", "outcome"),
    [(0.3, "unsure", "some boxes are probably wrong"), (0.7, "failed", "probably failed")],
)
def test_what_happened_and_what_to_do(doubt: float, state: str, outcome: str) -> None:
    few, many = [doubt] * (FEW - 1), [doubt] * FEW
    nothing, floor = "The photos have little in common that stands out", "The same background in all photos"
    assert verdict(*few) == Verdict(state, f"{nothing}: {outcome}. {DRAW_OR_ADD}")  # type: ignore[arg-type]
    assert verdict(*many) == Verdict(state, f"{nothing}: {outcome}. {DRAW}")  # type: ignore[arg-type]
    for doubts in (few, many):
        found = verdict(*doubts, scene=ONE_SCENE)
        assert found == Verdict(state, f"{floor}: {outcome}. {ELSEWHERE}")  # type: ignore[arg-type]
    assert verdict(*many, scene=ONE_SCENE - 0.01) == verdict(*many)


def test_photos_that_may_not_show_it_are_counted() -> None:
    assert verdict(0.1, 0.1, absences=[0.5, 0.49]).words == "Found. 1 photo may not show it."
    assert verdict(0.1, 0.1, absences=[0.9, 0.6]).words == "Found. 2 photos may not show it."
    assert verdict(0.3, 0.3, absences=[0.9, 0.6]).words.endswith(f"{DRAW_OR_ADD} 2 photos may not show it.")


def test_what_is_always_in_the_same_photos_cannot_be_told_apart() -> None:
    """However sure the boxes are; who is in other photos too is not concerned."""
    classes = [
        learned("mug", [0.0, 0.0], photos=["a", "b"]),
        learned("cup", [0.0, 0.0, 0.0], photos=["a", "b", "c"]),
        learned("pen", [0.0, 0.0], photos=["b", "a"]),
        learned("fork", [0.9, 0.9], photos=["a", "b"]),
    ]
    found = judge_classes(classes)
    assert list(found) == ["mug", "cup", "pen", "fork"]
    remedy = "nothing tells them apart. Draw a box around it in one photo, or add a photo of it alone."
    others = {"mug": "fork and pen", "pen": "fork and mug", "fork": "mug and pen"}
    for label, names in others.items():
        assert found[label] == Verdict("failed", f"Always in the same photos as {names}: {remedy}")
    assert found["cup"] == Verdict("found", "Found.")


def test_a_person_who_pointed_at_it_has_told_it_apart() -> None:
    mug = learned("mug", [0.0, 0.1], photos=["a", "b"], drawn=["a"])
    found = judge_classes([mug, learned("pen", [0.0, 0.0], photos=["a", "b"])])
    assert found["mug"] == Verdict("found", "Found.")
    assert found["pen"].state == "failed"  # of which nobody said anything


def test_without_classes_there_is_nothing_to_say() -> None:
    assert judge_classes([]) == {}
