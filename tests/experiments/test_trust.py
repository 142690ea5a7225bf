"""Trust: wrong tags are planted, signs are learned from, and the doubt falls where it should."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from command_line import run
from planted_bench import plant_bench
from tag2box.data import Dataset
from tag2box.experiments.bench.trust import (
    FLOORS,
    FRONT,
    MOST_ALARMS,
    SHARES,
    SHOTS,
    STRANGERS,
    WITHOUT,
    TrustTrial,
    draw_doubtful_tasks,
    fit_calibration,
    found_at_threshold,
    judged,
    reliability,
    share_in_front,
    trust_figures,
)
from tag2box.experiments.bench.workbench import HELD_OUT, Workbench
from tag2box.methods.calibration import SUSPECT, Calibration, Judge, load_calibration
from tag2box.model import Settings, save_settings

CHOSEN = {
    "vmf-mil-scenes": {
        "kappa": 30.0,
        "objectness_weight": 1.0,
        "commonness_weight": 1.0,
        "sharedness_weight": 1.0,
        "rivalry_weight": 1.0,
    },
    "vmf-mil-likeness": {"ridge": 1.0, "likeness_weight": 0.5},
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return plant_bench(tmp_path_factory.mktemp("bench"), images=24)


@pytest.fixture(scope="module")
def held_out(bench: Workbench) -> Dataset:
    return bench.load(HELD_OUT)


def test_a_tenth_of_the_tags_is_wrong_and_the_photos_without_the_thing_are_new(held_out: Dataset) -> None:
    tags = held_out.tags
    episodes = draw_doubtful_tasks(held_out, 40, seed=0)
    assert [len(episode.support) for episode in episodes[::40]] == list(SHOTS)
    wrong = [episode.classes[0] not in tags[image.image_id] for episode in episodes for image in episode.support]
    assert 0.06 < np.mean(wrong) < 0.14
    for episode in episodes:
        assert len(set(episode.negatives)) == WITHOUT + STRANGERS
        for other in episode.negatives:
            assert episode.classes[0] not in tags[other]
            assert other not in [image.image_id for image in episode.support]
        assert all(image.tags == episode.classes for image in episode.support)


def some_trials(seed: int = 0) -> list[TrustTrial]:
    """Boxes are wrong by the third sign, tags by the first; new photos that show the class score 4 more than others."""
    rng = np.random.default_rng(seed)
    trials = []
    for _ in range(200):
        wrong_signs, absent_signs = rng.standard_normal((6, 5)), rng.standard_normal((6, 2))
        scores = rng.normal([6.0, 2.0, 2.0, 2.0, 2.0], 1.0)
        trials.append(
            TrustTrial(
                wrong_signs,
                rng.random(6) < 1 / (1 + np.exp(3 * wrong_signs[:, 2] - 0.5)),
                absent_signs,
                rng.random(6) < 1 / (1 + np.exp(2 * absent_signs[:, 0] + 2)),
                rng.normal(6.0, 1.0, 6),
                rng.normal(2.0, 1.0, 3),
                scores,
                np.array([True, False, False, False, False]),
                np.array([True, False, False, False, False]),
            )
        )
    return trials


def test_the_judges_learn_what_the_signs_mean() -> None:
    fitted = fit_calibration(some_trials())
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
    assert found.recall > 0.9


def test_the_threshold_finds_the_most_that_few_alarms_allow() -> None:
    """Slowly: every threshold of the grid, without what a person's own photos say."""
    trials = [replace(trial, other_scores=np.zeros(0)) for trial in some_trials()]
    fitted = fit_calibration(trials)
    best = found_at_threshold(trials, fitted)
    assert best.alarms <= MOST_ALARMS
    for share in SHARES:
        for floor in FLOORS:
            other = found_at_threshold(
                trials, replace(fitted, threshold_share=float(share), threshold_floor=float(floor))
            )
            assert other.alarms > MOST_ALARMS or other.recall <= best.recall


def test_what_is_found_by_hand() -> None:
    trial = replace(
        some_trials()[0],
        support_scores=np.zeros(0),
        other_scores=np.zeros(0),
        query_scores=np.array([5.0, 4.0, 2.0, 6.0]),
        query_hits=np.array([True, False, True, False]),
        query_shows=np.array([True, True, True, False]),
    )
    found = found_at_threshold([trial], Calibration(Judge((), 0.0), Judge((), 0.0), 0.5, 3.0))
    assert (found.right, found.wrong, found.missed, found.alarms) == (1, 2, 2, 1.0)
    assert (found.precision, found.recall) == pytest.approx((1 / 3, 1 / 3))


def test_shares_and_thresholds_by_hand() -> None:
    assert share_in_front(np.array([0.1, 0.9, 0.5, 0.8]), np.array([True, True, False, False]), 0.5) == 0.5
    expected, shares, counts = reliability(np.array([0.05, 0.07, 1.0]), np.array([True, False, True]))
    np.testing.assert_allclose(expected, [0.06, 1.0])
    np.testing.assert_allclose(shares, [0.5, 1.0])
    assert counts.tolist() == [2, 1]


def test_figures_say_what_a_calibration_is_worth() -> None:
    trials = some_trials()
    fitted = fit_calibration(trials)
    seen = trust_figures(trials, fitted)
    doubts, wrong = judged(trials, fitted.wrong, "wrong")
    absences, absent = judged(trials, fitted.absent, "absent")
    assert (seen.boxes, seen.tasks) == (1200, 200)
    assert (seen.wrong, seen.doubt, seen.absent) == pytest.approx((wrong.mean(), doubts.mean(), absent.mean()))
    assert seen.wrong_in_front == share_in_front(doubts, wrong, FRONT)
    assert seen.absent_in_front == share_in_front(absences, absent, FRONT)
    named = absences >= SUSPECT
    assert 0 < seen.named < 1
    assert (seen.named, seen.named_rightly) == pytest.approx((named.mean(), absent[named].mean()))
    assert seen.found == found_at_threshold(trials, fitted)
    nobody = trust_figures(trials, replace(fitted, absent=Judge((0.0, 0.0), -1.0)))
    assert (nobody.named, nobody.named_rightly) == (0.0, 0.0)


def test_the_commands_learn_and_judge(bench: Workbench, tmp_path: Path) -> None:
    assert bench.model is not None
    settings, output = tmp_path / "settings.json", bench.model / "calibration.json"
    save_settings(settings, Settings(CHOSEN))
    places: list[str | Path] = [
        "--data",
        bench.data,
        "--store",
        bench.store,
        "--settings",
        settings,
        "--model",
        bench.model,
    ]
    learned = run("bench", "calibrate", *places, "-o", output, "--tasks", "10")
    assert learned.returncode == 0, learned.stderr
    assert "an alarm in" in learned.stdout
    assert "Tasks of same scene 4" in learned.stdout + learned.stderr
    assert len(load_calibration(output).wrong.weights) == 5
    done = run("bench", "trust", *places, "-o", tmp_path / "trust.svg", "--tasks", "5")
    assert done.returncode == 0, done.stderr
    assert "most doubtful boxes hold" in done.stdout
    assert (tmp_path / "trust.svg").stat().st_size > 5000
