"""Calibration: what is learned from trials whose meaning is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planted_trust import some_trials
from tag2box.experiments.bench.calibrating import (
    ANYTHING,
    LIKENESSES,
    QUIET,
    SCORES,
    SHARES,
    fit_calibration,
    worth_of_boxes,
)
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


def test_likeness_is_as_quiet_as_can_be_without_losing_much_and_the_score_is_as_good_as_any() -> None:
    """Slowly: every threshold of the grids, without what a person's own photos say."""
    trials = [replace(trial, other_likenesses=np.zeros(0)) for trial in some_trials()]
    fitted = fit_calibration(trials, 5.0)
    by_likeness = replace(fitted, score=ANYTHING)
    quiet, best = found_at_threshold(trials, by_likeness), found_at_threshold(trials, fitted)
    enough = 0.92 * found_at_threshold(trials, replace(by_likeness, likeness=ANYTHING)).recall
    assert quiet.recall >= enough
    chosen = worth_of_boxes(trials, fitted)
    for share in SHARES.tolist():
        for floor in LIKENESSES.tolist():
            other = found_at_threshold(trials, replace(by_likeness, likeness=Threshold(share, floor)))
            if other.recall >= enough:
                assert max(other.alarms, QUIET) >= quiet.alarms
                assert other.alarms > QUIET or other.recall <= quiet.recall
        for floor in SCORES.tolist():
            assert worth_of_boxes(trials, replace(fitted, score=Threshold(share, floor))) <= chosen
    assert best.precision > quiet.precision


def test_the_worth_of_boxes_by_hand() -> None:
    """One trial: five new photos, six support photos with two regions beside their boxes."""
    (trial,) = some_trials()[:1]
    trial = replace(
        trial,
        support_scores=np.zeros(0),
        support_likenesses=np.zeros(0),
        other_likenesses=np.zeros(0),
        query_scores=np.array([5.0, 9.0, 9.0, 0.0, 0.0]),
        query_likenesses=np.array([0.9, 0.9, 0.1, 0.9, 0.9]),
        query_hits=np.array([True, False, False, False, False]),
        query_shows=np.array([True, False, True, False, False]),
        further_scores=np.array([5.0, 3.0]),
        further_likenesses=np.array([0.9, 0.9]),
        further_right=np.array([True, True]),
    )
    calibration = replace(fit_calibration(some_trials(), 5.0), score=Threshold(0.0, 4.0), likeness=Threshold(0.0, 0.5))
    rights, missed = 1 + 5 / 6, 1 + 5 / 6  # of photos, and of things beside boxes; one box is wrong
    assert worth_of_boxes([trial], calibration) == pytest.approx(rights / (rights + (2 * 1 + missed) / 3))


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
