"""Trust: wrong tags are planted, signs are learned from, and the doubt falls where it should."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from command_line import run
from planted_bench import plant_bench
from planted_trust import some_trials
from tag2box.data import Dataset
from tag2box.experiments.bench.calibrating import fit_calibration
from tag2box.experiments.bench.sources import HELD_OUT
from tag2box.experiments.bench.trust import (
    FRONT,
    SHOTS,
    STRANGERS,
    WITHOUT,
    draw_doubtful_tasks,
    found_at_threshold,
    judged,
    reliability,
    share_in_front,
    trust_figures,
)
from tag2box.experiments.bench.workbench import Workbench
from tag2box.methods.calibration import SUSPECT, Calibration, Judge, Threshold, load_calibration
from tag2box.model import Settings, save_settings

CHOSEN = {
    "vmf-mil-scenes": {
        "axes": 30.0,
        "objectness_weight": 1.0,
        "commonness_weight": 1.0,
        "sharedness_weight": 1.0,
        "rivalry_weight": 1.0,
    },
    "vmf-mil-likeness": {"sharpness": 6.0, "example_share": 0.5},
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


def test_what_is_found_by_hand() -> None:
    trial = replace(
        some_trials()[0],
        support_scores=np.zeros(0),
        support_likenesses=np.zeros(0),
        other_likenesses=np.zeros(0),
        query_scores=np.array([5.0, 4.0, 2.0, 6.0, 7.0]),
        query_likenesses=np.array([0.6, 0.6, 0.9, 0.5, 0.4]),
        query_hits=np.array([True, False, True, False, True]),
        query_shows=np.array([True, True, True, False, True]),
    )
    calibration = Calibration(Judge((), 0.0), Judge((), 0.0), Threshold(0.5, 3.0), Threshold(0.5, 0.5), Judge((), 0.0))
    found = found_at_threshold([trial], calibration)
    assert (found.right, found.wrong, found.missed, found.alarms) == (1, 2, 3, 1.0)
    assert (found.precision, found.recall) == pytest.approx((1 / 3, 1 / 4))


def test_shares_and_thresholds_by_hand() -> None:
    assert share_in_front(np.array([0.1, 0.9, 0.5, 0.8]), np.array([True, True, False, False]), 0.5) == 0.5
    expected, shares, counts = reliability(np.array([0.05, 0.07, 1.0]), np.array([True, False, True]))
    np.testing.assert_allclose(expected, [0.06, 1.0])
    np.testing.assert_allclose(shares, [0.5, 1.0])
    assert counts.tolist() == [2, 1]


def test_figures_say_what_a_calibration_is_worth() -> None:
    trials = some_trials()
    fitted = fit_calibration(trials, 5.0)
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
