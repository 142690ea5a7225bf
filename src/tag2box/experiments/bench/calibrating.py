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

MOST_LOST = 0.08
"""Share of what would be found that may be lost for the sake of few alarms."""
WRONG_COSTS = 2.0
"""A wrong box counts so many times as much as a missing one: people have to find it before they can mend it."""
QUIET = 0.02
"""Share of the photos without a class in which it may be seen: fewer are not worth a loss."""
ANYTHING = Threshold(0.0, -100.0)
"""That every region reaches."""
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

    Likeness decides whether a photo shows the class: of the thresholds that lose little of what would be found without
    any, the quietest. Given that, the score decides which regions show it: the threshold whose boxes are worth most.
    """
    wrong, absent = (
        _judge(all_of(trials, f"{kind}_signs"), all_of(trials, kind).astype(np.bool_)) for kind in ("wrong", "absent")
    )
    free = Calibration(wrong, absent, ANYTHING, ANYTHING, NOBODY)
    enough = (1.0 - MOST_LOST) * found_at_threshold(trials, free).recall
    tried = [replace(free, likeness=one) for one in _thresholds(LIKENESSES)]
    quiet = max(tried, key=lambda calibration: _found_and_quiet(found_at_threshold(trials, calibration), enough))
    tried = [replace(quiet, score=one) for one in _thresholds(SCORES)]
    best = max(tried, key=lambda calibration: worth_of_boxes(trials, calibration))
    return replace(best, further=_judge_of_further(trials, best, sharpness))


def worth_of_boxes(trials: Sequence[TrustTrial], calibration: Calibration) -> float:
    """Share of right boxes among these, wrong and missing ones, by what they cost: one half for right ones.

    Of the best regions of new photos, and of regions beside the box of support photos, a photo weighing alike.
    """
    best = found_at_threshold(trials, calibration)
    weight = len(all_of(trials, "query_scores")) / len(all_of(trials, "wrong"))
    score_over, likeness_over = _further_over(trials, calibration)
    found, right = (score_over >= 0) & (likeness_over >= 0), all_of(trials, "further_right").astype(np.bool_)
    rights = best.right + weight * (found & right).sum()
    wrong = best.wrong + weight * (found & ~right).sum()
    missed = best.missed + weight * (~found & right).sum()
    cost = (WRONG_COSTS * wrong + missed) / (WRONG_COSTS + 1.0)
    return float(rights / max(rights + cost, 1.0))


def _further_over(trials: Sequence[TrustTrial], calibration: Calibration) -> tuple[Array, Array]:
    """(f,) each, how far regions that may show further things are above both thresholds of their class."""
    counts = [len(trial.further_scores) for trial in trials]
    scores, likenesses = (np.repeat(each, counts) for each in thresholds_of(trials, calibration))
    return all_of(trials, "further_scores") - scores, all_of(trials, "further_likenesses") - likenesses


def _judge_of_further(trials: Sequence[TrustTrial], calibration: Calibration, sharpness: float) -> Judge:
    """Whether further things that reach the thresholds, or almost, are wrong."""
    margins = margin(*_further_over(trials, calibration), sharpness)  # (f,)
    doubts = [calibration.wrong(trial.wrong_signs)[trial.further_places] for trial in trials]
    signs, right = further_signs(margins, np.concatenate(doubts)), all_of(trials, "further_right").astype(np.bool_)
    near = margins >= ALMOST
    return _judge(signs[near], ~right[near]) if 0 < right[near].sum() < near.sum() else NOBODY


def _thresholds(floors: Array) -> list[Threshold]:
    return [Threshold(share, floor) for share in SHARES.tolist() for floor in floors.tolist()]


def _found_and_quiet(found: FoundAtThreshold, enough: float) -> tuple[float, float, float]:
    """Finding enough comes first, then few alarms; where they are few enough, finding more."""
    return min(found.recall, enough), -max(found.alarms, QUIET), found.recall


def _judge(signs: Array, labels: Bools) -> Judge:
    *weights, bias = fit_logistic(signs, labels, alike(labels))
    return Judge(tuple(weights), bias)
