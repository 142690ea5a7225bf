"""Calibration: what is learned from trials whose meaning is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planted_trust import some_trials
from tag2box.experiments.bench.calibrating import LIKENESSES, MOST_ALARMS, SCORES, SHARES, fit_calibration
from tag2box.experiments.bench.trust import found_at_threshold, judged, reliability, share_in_front
from tag2box.methods.calibration import Threshold


def test_the_judges_learn_what_the_signs_mean() -> None:
    fitted = fit_calibration(some_trials(), 5.0)
    np.testing.assert_allclose(fitted.wrong.weights, [0, 0, -3, 0, 0], atol=0.4)
    np.testing.assert_allclose(fitted.absent.weights, [-2, 0], atol=0.4)
    fresh = some_trials(1)
    chances, happened = judged(fresh, fitted.wrong, "wrong")
    expected, shares, counts = reliability(chances, happened)
    assert counts.sum() == len(chances) == 1200
    np.testing.assert_allclose(shares, expected, atol=0.12)
    assert share_in_front(chances, happened, 0.2) > 0.33
    found = found_at_threshold(fresh, fitted)
    assert found.alarms < 0.06
    assert found.recall > 0.85


def test_likeness_finds_the_most_that_few_alarms_allow_and_the_score_is_as_good_as_any() -> None:
    """Slowly: every threshold of the grids, without what a person's own photos say."""
    trials = [replace(trial, other_likenesses=np.zeros(0)) for trial in some_trials()]
    fitted = fit_calibration(trials, 5.0)
    by_likeness = replace(fitted, score=Threshold(0.0, -100.0))
    quiet, best = found_at_threshold(trials, by_likeness), found_at_threshold(trials, fitted)
    assert quiet.alarms <= MOST_ALARMS
    for share in SHARES.tolist():
        for floor in LIKENESSES.tolist():
            other = found_at_threshold(trials, replace(by_likeness, likeness=Threshold(share, floor)))
            assert other.alarms > MOST_ALARMS or other.recall <= quiet.recall
        for floor in SCORES.tolist():
            assert found_at_threshold(trials, replace(fitted, score=Threshold(share, floor))).f1 <= best.f1
    assert best.precision > quiet.precision


def test_further_things_are_doubted_by_their_margin() -> None:
    """Right with the chance of their score over 3, and likeness never in the way: the margin's weight is -1."""
    trials = [trial for seed in range(4) for trial in some_trials(seed)]
    fitted = fit_calibration(trials, 50.0)
    weights, bias = fitted.further.weights, fitted.further.bias
    thresholds = [fitted.score.of(trial.support_scores) for trial in trials]
    assert weights[0] == pytest.approx(-1.0, abs=0.25)
    assert bias == pytest.approx(3.0 - np.mean(thresholds), abs=0.6)
    assert abs(weights[1]) < 0.15


def test_where_there_are_no_further_things_they_are_doubted_by_half() -> None:
    trials = [replace(trial, further_right=np.zeros(2, np.bool_)) for trial in some_trials()]
    assert fit_calibration(trials, 5.0).further(np.array([[3.0, -2.0], [0.0, 9.0]])).tolist() == [0.5, 0.5]
