"""What base classes teach about signs: a logistic regression for each question, and the file that holds them.

n = things judged, k = signs
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from tag2box.arrays import Array, frozen, require_number, sigmoid
from tag2box.errors import ModelError, reason_of
from tag2box.files import write_json
from tag2box.methods.signs import ABSENT_SIGNS, FURTHER_SIGNS, WRONG_SIGNS

FORMAT = "tag2box-calibration-2"
CALIBRATION_NAME = "calibration.json"
"""In the folder of a model."""
FALSE_ALARMS = 0.05
"""Share of the photos that are known not to show a class in which it may be seen."""
NOTHING_KNOWN = frozen(np.zeros(0), np.float64)
SUSPECT = 0.5
"""From this chance of absence on a tag is called suspicious."""


@final
@dataclass(frozen=True)
class Judge:
    """Turns signs into a probability (14.2)."""

    weights: tuple[float, ...]
    bias: float

    def __post_init__(self) -> None:
        for value in (*self.weights, self.bias):
            require_number("weight of a judge", value)

    def __call__(self, signs: Array) -> Array:
        """(n,) probabilities from signs (n, k)."""
        return sigmoid(signs @ np.array(self.weights) + self.bias)


@final
@dataclass(frozen=True)
class Threshold:
    """How a class gets a threshold of its own (14.3)."""

    share: float
    """How far it follows what the class's own photos reach …"""
    floor: float
    """… and what it starts from"""

    def __post_init__(self) -> None:
        for value in (self.share, self.floor):
            require_number("part of a threshold", value)

    def of(self, own: Array, others: Array = NOTHING_KNOWN) -> float:
        """The threshold of a class whose photos reach so much, each left out once, and others without it so much."""
        return float(self.at(*(np.array(value) for value in reach(own, others))))

    def at(self, typical: Array, quiet: Array) -> Array:
        """(n,), the thresholds of classes with such a reach.

        What its photos reach says where a class begins; without any, which is so where one photo is all that there is,
        the floor stands alone. Photos that are known not to show the class push it up, until few of them reach it;
        but never so far that half of its own photos would be missed.
        """
        begins = np.where(np.isnan(typical), self.floor, typical)  # (n,)
        return np.maximum(self.share * begins + (1.0 - self.share) * self.floor, np.minimum(quiet, begins))


class Reach(NamedTuple):
    """How far the photos of a class reach, and those that do not show it."""

    typical: float
    """The median of its own; NaN if there are none"""
    quiet: float
    """What few of the others reach; minus infinity if there are none"""


def reach(own: Array, others: Array = NOTHING_KNOWN) -> Reach:
    """What a threshold depends on."""
    typical = float(np.median(own)) if len(own) else float("nan")
    return Reach(typical, float(np.quantile(others, 1.0 - FALSE_ALARMS)) if len(others) else float("-inf"))


@final
@dataclass(frozen=True)
class Calibration:
    """Whether a box is wrong, whether the thing is absent, and from where on a detection counts."""

    wrong: Judge
    absent: Judge
    score: Threshold
    """Says which regions of a photo that shows the class are the thing"""
    likeness: Threshold
    """Says whether a photo shows the class at all"""
    further: Judge
    """Whether a further thing of a class, beside the box of its photo, is none"""


def save_calibration(path: Path, fitted: Calibration, facts: Mapping[str, Any]) -> None:
    """Write a calibration, and how it was made."""
    write_json(path, {"format": FORMAT, **asdict(fitted), "fitted on": dict(facts)})


def fitted_on(path: Path) -> Mapping[str, Any]:
    """How a calibration was made; empty if there is none, or nobody wrote it down."""
    if not path.exists():
        return {}
    load_calibration(path)
    return dict(json.loads(path.read_text(encoding="utf-8")).get("fitted on", {}))


def load_calibration(path: Path) -> Calibration:
    """Read a calibration; a file of another kind, or a damaged one, is refused by name."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"the format is {content['format']!r}")
        return Calibration(
            _judge(content["wrong"], len(WRONG_SIGNS)),
            _judge(content["absent"], len(ABSENT_SIGNS)),
            _threshold(content["score"]),
            _threshold(content["likeness"]),
            _judge(content["further"], len(FURTHER_SIGNS)),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"{path} cannot be read as a calibration: {reason_of(error)}.",
            f"a file of format {FORMAT!r}, as tag2box model make writes it",
            "copy the model's folder again, as a whole.",
        ) from error


def _judge(content: Mapping[str, Any], signs: int) -> Judge:
    weights = tuple(float(weight) for weight in content["weights"])
    if len(weights) != signs:
        raise ValueError(f"there are {len(weights)} weights for {signs} signs")
    return Judge(weights, float(content["bias"]))


def _threshold(content: Mapping[str, Any]) -> Threshold:
    return Threshold(float(content["share"]), float(content["floor"]))
