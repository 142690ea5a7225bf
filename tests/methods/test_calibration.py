"""The calibration: chances from signs, thresholds, and its file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tag2box.errors import InputError, ModelError
from tag2box.extract import shipped_model
from tag2box.methods.calibration import (
    CALIBRATION_NAME,
    Calibration,
    Judge,
    Threshold,
    load_calibration,
    save_calibration,
)

WRONG, ABSENT, FURTHER = Judge((1.0, 0.0, -2.0, 0.0, 0.5), 0.25), Judge((-3.0, 1.0), -1.0), Judge((-1.0, 0.5), 0.0)
SOME = Calibration(WRONG, ABSENT, Threshold(0.25, 2.0), Threshold(0.0, 0.5), FURTHER)


def test_a_chance_by_hand() -> None:
    assert Judge((2.0, -1.0), 0.5)(np.array([[1.0, 2.0], [0.0, 0.5]])) == pytest.approx([1 / (1 + np.exp(-0.5)), 0.5])


def test_a_threshold_goes_part_of_the_way_to_the_median() -> None:
    assert SOME.score.of(np.array([1.0, 6.0, 100.0])) == pytest.approx(0.25 * 6.0 + 0.75 * 2.0)


def test_photos_without_the_class_push_its_threshold_up_but_not_above_its_own_photos() -> None:
    own = np.array([1.0, 6.0, 100.0])
    plain = SOME.score.of(own)
    assert SOME.score.of(own, np.full(20, -5.0)) == plain  # they never lower it
    quiet = np.linspace(0.0, 5.0, 11)
    assert SOME.score.of(own, quiet) == pytest.approx(4.75)  # one in twenty reaches it
    assert SOME.score.of(own, np.full(20, 50.0)) == 6.0
    assert SOME.score.of(np.zeros(0), np.full(20, 50.0)) == 2.0  # nothing is known of its own scores


def test_it_survives_a_file(tmp_path: Path) -> None:
    save_calibration(tmp_path / "c.json", SOME, {"tasks": 3})
    assert load_calibration(tmp_path / "c.json") == SOME


@pytest.mark.parametrize(
    "change",
    [
        {"format": "another"},
        {"wrong": {"weights": [1.0], "bias": 0.0}},
        {"absent": 3},
        {"likeness": {"share": 0.5}},
        {"further": {"weights": [1.0], "bias": 0.0}},
        {"score": {"share": 1.0, "floor": "x"}},
    ],
)
def test_a_file_that_holds_none_is_named(tmp_path: Path, change: dict[str, object]) -> None:
    save_calibration(tmp_path / "c.json", SOME, {})
    content = json.loads((tmp_path / "c.json").read_text()) | change
    (tmp_path / "c.json").write_text(json.dumps(content))
    with pytest.raises(ModelError, match=r"c\.json cannot be read as a calibration"):
        load_calibration(tmp_path / "c.json")


def test_weights_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InputError):
        Judge((1.0, float("nan")), 0.0)


def test_the_shipped_one_doubts_what_deserves_it() -> None:
    shipped = load_calibration(shipped_model() / CALIBRATION_NAME)
    sure, unsure = np.array([[4.0, 1.0, 0.8, -1.0, 1.0], [-2.0, 0.0, 0.2, -1.0, 1.0]])
    assert shipped.wrong(sure[None])[0] < 0.5 < shipped.wrong(unsure[None])[0]
    alike, stranger = np.array([[0.6, 0.6], [0.1, 0.6]])
    assert shipped.absent(alike[None])[0] < 0.2 < shipped.absent(stranger[None])[0]
