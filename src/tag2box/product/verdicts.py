"""What became of each class, in words, and what a person can do about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, final

from tag2box.methods.calibration import SUSPECT
from tag2box.product.learning import LearnedClass
from tag2box.words import counted

GOOD, POOR = 0.8, 0.5
"""Share of the boxes that are probably right, from which on a class was found, and below which it was not."""
ONE_SCENE = 0.6
"""Photos whose scenes are so alike share their background."""
FEW = 5
"""With fewer photos, more of them would help."""


@final
@dataclass(frozen=True)
class Verdict:
    """How a class came out."""

    state: Literal["found", "unsure", "failed"]
    words: str
    """One or two sentences: what happened, and what to do"""


def judge_classes(learned: Sequence[LearnedClass]) -> dict[str, Verdict]:
    """A verdict on every class."""
    twins = _always_together(learned)
    return {one.label: _judge(one, twins.get(one.label, ())) for one in learned}


def _judge(one: LearnedClass, twins: Collection[str]) -> Verdict:
    expected = one.expected_right / len(one.boxes)
    if twins and not one.lesson.regions:
        others = " and ".join(sorted(twins))
        return Verdict(
            "failed",
            f"Always in the same photos as {others}: nothing tells them apart. "
            "Draw a box around it in one photo, or add a photo of it alone.",
        )
    if expected >= GOOD:
        return Verdict("found", f"Found.{_suspects(one)}")
    state: Literal["unsure", "failed"] = "failed" if expected < POOR else "unsure"
    return Verdict(state, f"{_why(one, state)} {_remedy(one)}{_suspects(one)}")


def _why(one: LearnedClass, state: str) -> str:
    outcome = "probably failed" if state == "failed" else "some boxes are probably wrong"
    if one.scene_likeness >= ONE_SCENE:
        return f"The same background in all photos: {outcome}."
    return f"The photos have little in common that stands out: {outcome}."


def _remedy(one: LearnedClass) -> str:
    if one.scene_likeness >= ONE_SCENE:
        return "Draw a box in one of them, or add photos taken elsewhere."
    more = ", or add photos" if len(one.photos) < FEW else ""
    return f"Draw a box in one of them{more}."


def _suspects(one: LearnedClass) -> str:
    suspects = sum(box.absence >= SUSPECT for box in one.boxes)
    return f" {counted(suspects, 'photo')} may not show it." if suspects else ""


def _always_together(learned: Sequence[LearnedClass]) -> Mapping[str, list[str]]:
    """Class → other classes that are in the very same photos."""
    by_photos: dict[frozenset[str], list[str]] = defaultdict(list)
    for one in learned:
        by_photos[frozenset(one.photos)].append(one.label)
    return {
        label: [other for other in labels if other != label]
        for labels in by_photos.values()
        if len(labels) > 1
        for label in labels
    }
