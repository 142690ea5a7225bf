"""Learning on held-out kinds of classes which boxes and tags to doubt, and from where on a detection counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tag2box.arrays import Array, Bools
from tag2box.experiments.bench.trust import (
    FoundAtThreshold,
    TrustTrial,
    all_of,
    found_at_threshold,
    thresholds_of,
    trust_trials,
)
from tag2box.experiments.bench.workbench import Workbench
from tag2box.methods.calibration import Calibration, Judge, Threshold
from tag2box.methods.detectors import margin
from tag2box.methods.signs import further_signs
from tag2box.model import DETECTOR, Settings
from tag2box.progress import Progress
from tag2box.training import alike, fit_logistic

MOST_ALARMS = 0.05
"""Share of the photos without a class in which it may be seen."""
ALMOST = -1.0
"""Margin of further things that are near enough to learn from."""
NOBODY = Judge((0.0, 0.0), 0.0)
"""Doubts every further thing by one half, where there are none to learn from."""
SHARES, SCORES, LIKENESSES = np.linspace(0.0, 1.0, 11), np.linspace(-8.0, 24.0, 65), np.linspace(0.0, 1.0, 41)
"""What thresholds are tried."""


def calibration_trials(
    bench: Workbench, settings: Settings, tasks: int, seed: int, progress: Progress
) -> list[TrustTrial]:
    """Trials to learn from: as many of each set of datasets that is like what users have."""
    trials = []
    for group in bench.like_users:
        trials += trust_trials(bench, group, settings, max(1, tasks // len(group)), seed, progress)
    return trials


def calibration_facts(
    bench: Workbench, classes: Sequence[str], settings: Settings, tasks: int, seed: int
) -> dict[str, Any]:
    """All that a calibration on held-out classes depends on."""
    return {
        "model": bench.card.fingerprint,
        "classes": list(classes),
        "tasks of a size": tasks,
        "seed": seed,
        "settings": dict(settings.of(DETECTOR)),
        "tasks of": [name for group in bench.like_users for name in group],
        "knowledge": bench.knowledge_hash,
    }


def fit_calibration(trials: Sequence[TrustTrial], sharpness: float) -> Calibration:
    """What the trials of a head with such a sharpness teach; every photo weighs the same.

    Likeness decides whether a photo shows the class: of the thresholds that few photos without it reach, the one that
    finds the most. Given that, the score decides which region it is: the threshold with the best F1.
    """
    wrong, absent = (
        _judge(all_of(trials, f"{kind}_signs"), all_of(trials, kind).astype(np.bool_)) for kind in ("wrong", "absent")
    )
    no_score = Threshold(0.0, float(SCORES.min()))
    tried = [Calibration(wrong, absent, no_score, one, NOBODY) for one in _thresholds(LIKENESSES)]
    quiet = max(tried, key=lambda calibration: _quiet_and_found(found_at_threshold(trials, calibration)))
    tried = [replace(quiet, score=one) for one in _thresholds(SCORES)]
    best = max(tried, key=lambda calibration: found_at_threshold(trials, calibration).f1)
    return replace(best, further=_judge_of_further(trials, best, sharpness))


def _judge_of_further(trials: Sequence[TrustTrial], calibration: Calibration, sharpness: float) -> Judge:
    """Whether further things that reach the thresholds, or almost, are wrong."""
    counts = [len(trial.further_scores) for trial in trials]
    scores, likenesses = (np.repeat(each, counts) for each in thresholds_of(trials, calibration))
    over = all_of(trials, "further_scores") - scores, all_of(trials, "further_likenesses") - likenesses
    margins = margin(*over, sharpness)  # (f,)
    doubts = [calibration.wrong(trial.wrong_signs)[trial.further_places] for trial in trials]
    signs, right = further_signs(margins, np.concatenate(doubts)), all_of(trials, "further_right").astype(np.bool_)
    near = margins >= ALMOST
    return _judge(signs[near], ~right[near]) if 0 < right[near].sum() < near.sum() else NOBODY


def _thresholds(floors: Array) -> list[Threshold]:
    return [Threshold(share, floor) for share in SHARES.tolist() for floor in floors.tolist()]


def _quiet_and_found(found: FoundAtThreshold) -> tuple[float, float]:
    """Few enough alarms come first, then what is found."""
    return -max(found.alarms, MOST_ALARMS), found.recall


def _judge(signs: Array, labels: Bools) -> Judge:
    *weights, bias = fit_logistic(signs, labels, alike(labels))
    return Judge(tuple(weights), bias)
