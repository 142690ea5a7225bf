"""Detecting: one name for one thing, no parts of what was found, patterns of files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tag2box.methods.calibration import Calibration, Judge
from tag2box.methods.detectors import Spread
from tag2box.methods.localizers import NO_BACKGROUND, VmfMil
from tag2box.product.class_file import ClassSet, KnownClass
from tag2box.product.detecting import detect_classes, expand_places
from tag2box.product.knowledge import Knowledge
from tag2box.types import ProposalBag

D = 3
CALIBRATION = Calibration(Judge((0.0,) * 5, 0.0), Judge((0.0,) * 2, 0.0), 0.5, 0.0)
KNOWLEDGE = Knowledge(
    "x",
    VmfMil(10.0, NO_BACKGROUND),
    Spread(np.zeros(D), 0.04 * np.eye(D)),
    CALIBRATION,
    {"ridge": 1.0, "likeness_weight": 1.0, "objectness_weight": 0.0},
)
"""A cosine of 1 scores 5."""


def known(*thresholds: float) -> ClassSet:
    axes = np.eye(D, dtype=np.float32)
    return ClassSet("x", tuple(KnownClass("abc"[c], axes[c], 1.0, t, {}) for c, t in enumerate(thresholds)))


def bag(*regions: tuple[Sequence[float], Sequence[float]]) -> ProposalBag:
    boxes = [[0.0, 0.0, 100.0, 100.0], *(box for box, _ in regions)]
    features = [[0.0, 0.0, -1.0], *(feature for _, feature in regions)]
    return ProposalBag.from_raw("photo", boxes, features, np.full(len(boxes), 0.5))


def test_a_score_of_one_half_is_the_threshold() -> None:
    photo = bag(([10, 10, 30, 30], [1, 0, 0]))
    found = detect_classes(photo, known(5.0), KNOWLEDGE, 0.0)
    assert found.scores[0] == pytest.approx(0.5, abs=1e-6)
    assert len(detect_classes(photo, known(5.1), KNOWLEDGE)) == 0
    assert len(detect_classes(photo, known(4.9), KNOWLEDGE)) == 1
    assert len(detect_classes(photo, ClassSet("x", ()), KNOWLEDGE)) == 0


def test_a_box_has_the_name_of_the_likeliest_class() -> None:
    photo = bag(([10, 10, 30, 30], [1, 0.8, 0]))
    (found,) = detect_classes(photo, known(2.0, 2.0), KNOWLEDGE)
    assert found.label == "a"
    (found,) = detect_classes(photo, known(2.5, 1.0), KNOWLEDGE)  # further above its threshold
    assert found.label == "b"


def test_parts_and_groups_are_no_things_of_their_own() -> None:
    whole, part, group = [10, 10, 50, 50], [12, 12, 30, 30], [5, 5, 95, 95]
    beside, of_another = [60, 60, 90, 90], [15, 15, 25, 25]
    photo = bag(
        (whole, [1, 0, 0]), (part, [1, 0.1, 0]), (group, [1, 0.2, 0]), (beside, [1, 0, 0.3]), (of_another, [0, 1, 0])
    )
    found = detect_classes(photo, known(2.0, 2.0), KNOWLEDGE)
    assert sorted((one.label, one.box) for one in found) == [
        ("a", (10.0, 10.0, 50.0, 50.0)),
        ("a", (60.0, 60.0, 90.0, 90.0)),
        ("b", (15.0, 15.0, 25.0, 25.0)),
    ]
    everything = detect_classes(photo, known(9.0, 9.0), KNOWLEDGE, 0.0)  # below the threshold nothing is hidden
    assert [12.0, 12.0, 30.0, 30.0] in everything.of_class("a").boxes.tolist()


def test_patterns_are_expanded_and_names_that_exist_are_not(tmp_path: Path) -> None:
    for name in ("a.jpg", "b.jpg", "c[1].jpg"):
        (tmp_path / name).touch()
    assert expand_places([str(tmp_path / "?.jpg")]) == [tmp_path / "a.jpg", tmp_path / "b.jpg"]
    assert expand_places([str(tmp_path / "c[1].jpg")]) == [tmp_path / "c[1].jpg"]
    assert expand_places([str(tmp_path / "z*.jpg")]) == [tmp_path / "z*.jpg"]
