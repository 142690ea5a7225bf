"""A trained detector becomes a model that the product opens: once, unattended, and on again where it stopped."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

import tag2box
from in_process import run_here
from planted_bench import plant_bench, plant_elder_twin
from tag2box.data import load_split
from tag2box.experiments import model_making
from tag2box.experiments.bench import tuning
from tag2box.experiments.bench.sources import BASE, HELD_OUT, SAME_SCENE
from tag2box.experiments.bench.workbench import Workbench
from tag2box.extract import CARD_NAME, read_card, shipped_model, write_card
from tag2box.methods.calibration import CALIBRATION_NAME
from tag2box.methods.lineup import LINEUP
from tag2box.model import (
    DETECTOR,
    KNOWLEDGE_NAME,
    LOCALIZER,
    SETTINGS_NAME,
    Model,
    knowledge_hash,
    load_knowledge,
    load_settings,
    save_settings,
)
from tag2box.progress import Progress
from tiny_training import write_photos

IMAGES = 24
TASKS = 4
FEW = ("--tasks", str(TASKS), "--shots", "2")
GRIDS = {LOCALIZER: {"axes": (8.0, 16.0)}, DETECTOR: {"sharpness": (6.0, 12.0)}}
"""A few values of one setting; of the others, the first."""
PHOTOS = Path(tag2box.__file__).parent / "assets" / "demo" / "photos"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, features and two detectors, one of which never saw the held-out classes; not to be written to."""
    folder = tmp_path_factory.mktemp("planted")
    plant_elder_twin(plant_bench(folder, IMAGES), folder / "detector", IMAGES)
    return folder


@pytest.fixture
def folder(planted: Path, tmp_path: Path) -> Path:
    """A copy of them for one test."""
    return Path(shutil.copytree(planted, tmp_path / "place"))


@pytest.fixture(autouse=True)
def few_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """What users get is chosen, on a small grid, and nothing else."""
    monkeypatch.setattr(model_making, "tuned_methods", lambda: (LOCALIZER, DETECTOR))
    small = {
        name: replace(LINEUP[name], grid={key: values[:1] for key, values in LINEUP[name].grid.items()} | grid)
        for name, grid in GRIDS.items()
    }
    monkeypatch.setattr(tuning, "LINEUP", {**LINEUP, **small})


@pytest.fixture
def choices(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods that settings were chosen for, in this order."""
    made: list[str] = []
    choose = tuning.choose_settings

    def counted(bench: Workbench, method: str, *rest: Any) -> tuple[dict[str, float], float]:
        made.append(method)
        return choose(bench, method, *rest)

    monkeypatch.setattr(tuning, "choose_settings", counted)
    return made


@pytest.fixture
def extracted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path | None, str]]:
    """Detectors and the datasets that were to be extracted with them."""
    asked: list[tuple[Path | None, str]] = []
    extract = Workbench.extract_missing

    def remembered(bench: Workbench, name: str, progress: Progress) -> None:
        asked.append((bench.model, name))
        extract(bench, name, progress)

    monkeypatch.setattr(Workbench, "extract_missing", remembered)
    return asked


def make(folder: Path, *how: str | Path) -> CompletedProcess[str]:
    """The command, with what is planted in a folder."""
    places = ("--data", folder / "data", "--store", folder / "store", "-o", folder / "made")
    return run_here("model", "make", folder / "detector", *places, *how)


def with_twin(folder: Path) -> CompletedProcess[str]:
    return make(folder, "--held-out", folder / "model", *FEW)


def leftovers(folder: Path) -> list[str]:
    """What a making leaves beside what was there."""
    return sorted(path.name for path in folder.iterdir() if path.name not in {"data", "store", "model", "detector"})


def test_a_detector_and_its_twin_make_a_model(
    folder: Path, choices: list[str], extracted: list[tuple[Path | None, str]]
) -> None:
    done = with_twin(folder)
    assert done.returncode == 0, done.stderr
    assert choices == [LOCALIZER, DETECTOR]
    by_twin = [(folder / "model", name) for name in (HELD_OUT, BASE, *SAME_SCENE)]  # base: what it knows is fitted
    assert extracted == [(folder / "detector", BASE), *by_twin]
    assert leftovers(folder) == ["made"]
    made, detector, twin = Model.open(folder / "made"), read_card(folder / "detector"), read_card(folder / "model")
    assert made.fingerprint == made.knowledge.fingerprint == detector.fingerprint != twin.fingerprint
    assert f"Wrote {detector.fingerprint} to {folder / 'made'}." in done.stdout
    edges = "axes, objectness_weight, commonness_weight, sharedness_weight, rivalry_weight"
    assert re.search(rf"^{LOCALIZER}: axes .*; at the edge of its grid: {edges}$", done.stdout, re.M)  # in one line
    assert f"{made.knowledge.regions:,} of {made.knowledge.images:,} photos" in done.stdout
    assert made.settings.of(LOCALIZER)["axes"] in GRIDS[LOCALIZER]["axes"]
    assert made.learner.sharpness in GRIDS[DETECTOR]["sharpness"]


def test_its_files_say_how_they_came_about(folder: Path) -> None:
    assert with_twin(folder).returncode == 0
    twin, bench = read_card(folder / "model"), Workbench(folder / "data", folder / "store")
    held_out = list(bench.load(HELD_OUT).classes)
    settings = load_settings(folder / "made" / SETTINGS_NAME)
    for name, measure in ((LOCALIZER, "support and query CorLoc"), (DETECTOR, "mAP")):
        how = settings.chosen_how[name]
        assert (how["model"], how["classes"]) == (twin.fingerprint, held_out)
        assert (how["tasks"], how["shots"], how["seed"]) == (TASKS, 2, 0)
        assert how["tasks of"] == [HELD_OUT, *SAME_SCENE]
        assert set(how["grid"]) == set(settings.own[name])
        assert 0 <= how[measure] <= 1
    assert settings.chosen_how[DETECTOR]["beside"] == settings.own[LOCALIZER]
    fitted = json.loads((folder / "made" / CALIBRATION_NAME).read_text())["fitted on"]
    assert (fitted["model"], fitted["classes"]) == (twin.fingerprint, held_out)
    assert (fitted["tasks of a size"], fitted["seed"]) == (max(1, TASKS // 8), 0)
    assert fitted["settings"] == settings.of(DETECTOR)


def test_knowledge_comes_from_the_detector_and_choices_from_its_twin(folder: Path) -> None:
    """The twin must take held-out classes for novel; the detector has learned them, and uses their photos too."""
    assert with_twin(folder).returncode == 0
    known = {
        name: load_knowledge(folder / "store" / read_card(folder / name).fingerprint / KNOWLEDGE_NAME)
        for name in ("detector", "model")
    }
    assert known["detector"].images == 2 * known["model"].images
    made = load_knowledge(folder / "made" / KNOWLEDGE_NAME)
    np.testing.assert_array_equal(made.spread.covariance, known["detector"].spread.covariance)


def test_a_second_making_chooses_nothing_anew(folder: Path, choices: list[str]) -> None:
    assert with_twin(folder).returncode == 0
    before = {path.name: path.read_bytes() for path in (folder / "made").iterdir() if path.name != KNOWLEDGE_NAME}
    known = knowledge_hash(load_knowledge(folder / "made" / KNOWLEDGE_NAME))
    choices.clear()
    done = with_twin(folder)
    assert done.returncode == 0, done.stderr
    assert choices == []
    assert "Tasks of" not in done.stdout  # nor is anything calibrated
    assert {name: (folder / "made" / name).read_bytes() for name in before} == before
    assert knowledge_hash(load_knowledge(folder / "made" / KNOWLEDGE_NAME)) == known
    assert make(folder, "--held-out", folder / "model", *FEW, "--seed", "1").returncode == 0
    assert choices == [LOCALIZER, DETECTOR]  # other tasks are another question


def test_what_stood_beside_a_choice_belongs_to_it(folder: Path, choices: list[str]) -> None:
    """A detector whose localizer was chosen anew is chosen anew."""
    assert with_twin(folder).returncode == 0
    file = folder / "store" / read_card(folder / "model").fingerprint / "chosen" / SETTINGS_NAME
    chosen = load_settings(file)
    other = {**chosen.own[LOCALIZER], "axes": 99.0}
    save_settings(file, chosen.with_choice(LOCALIZER, other, chosen.chosen_how[LOCALIZER]))
    choices.clear()
    assert with_twin(folder).returncode == 0
    assert choices == [DETECTOR]


def test_an_interrupted_making_leaves_no_model_and_goes_on_where_it_was(
    folder: Path, choices: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = tuning.choose_settings

    def stop(bench: Workbench, method: str, *rest: Any) -> tuple[dict[str, float], float]:
        if method == DETECTOR:
            raise KeyboardInterrupt
        return choose(bench, method, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(tuning, "choose_settings", stop)
        assert with_twin(folder).returncode == 130
    assert leftovers(folder) == []
    assert choices == [LOCALIZER]
    assert with_twin(folder).returncode == 0
    assert choices == [LOCALIZER, DETECTOR]
    assert leftovers(folder) == ["made"]


def test_a_model_that_does_not_open_is_not_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made anew takes the place of what was made before only when it is whole."""
    with monkeypatch.context() as patched:
        patched.setattr(model_making, "save_knowledge", lambda path, known: path.write_bytes(b"cut off"))
        done = with_twin(folder)
        assert (done.returncode, KNOWLEDGE_NAME in done.stderr) == (2, True)
        assert leftovers(folder) == []
    assert with_twin(folder).returncode == 0
    with monkeypatch.context() as patched:
        patched.setattr(model_making, "save_knowledge", lambda path, known: path.write_bytes(b"cut off"))
        assert with_twin(folder).returncode == 2
    assert leftovers(folder) == ["made"]
    assert Model.open(folder / "made").fingerprint == read_card(folder / "detector").fingerprint


def test_choices_can_be_taken_over_and_both_files_say_so(folder: Path, choices: list[str]) -> None:
    done = make(folder, "--like", shipped_model())
    assert done.returncode == 0, done.stderr
    assert choices == []
    made, source = Model.open(folder / "made"), Model.open()
    assert made.settings.own == source.settings.own
    assert made.calibration == source.calibration
    for name in source.settings.own:
        said = {"taken over from": source.fingerprint}
        assert made.settings.chosen_how[name] == source.settings.chosen_how.get(name, {}) | said
    fitted = json.loads((folder / "made" / CALIBRATION_NAME).read_text())["fitted on"]
    assert fitted["taken over from"] == source.fingerprint
    assert made.knowledge.fingerprint == read_card(folder / "detector").fingerprint  # what it knows is its own


@pytest.mark.parametrize("how", [(), ("--held-out", "model", "--like", "model")])
def test_choices_come_from_one_place(folder: Path, how: tuple[str, ...]) -> None:
    done = make(folder, *how)
    assert done.returncode == 2
    assert "give --held-out or --like, and not both" in done.stderr
    assert leftovers(folder) == []


def test_a_folder_of_somebody_else_is_left_alone(folder: Path, choices: list[str]) -> None:
    (folder / "made").mkdir()
    (folder / "made" / "thesis.txt").write_text("four years")
    done = with_twin(folder)
    assert done.returncode == 2
    assert "tag2box model make did not write it" in done.stderr
    assert choices == []  # it is said before the work
    assert [path.name for path in (folder / "made").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("option", "source", "said"),
    [("--held-out", "detector", "the model has learned"), ("--held-out", "none", "none"), ("--like", "none", "none")],
)
def test_choices_that_cannot_be_made_are_refused_before_the_work(
    folder: Path, extracted: list[tuple[Path | None, str]], option: str, source: str, said: str
) -> None:
    """A twin that has seen the classes is no judge, and one that is not there neither."""
    done = make(folder, option, folder / source, *FEW)
    assert done.returncode == 2
    assert said in done.stderr
    assert extracted == []
    assert leftovers(folder) == []


def test_a_single_task_is_enough_for_a_detector(folder: Path) -> None:
    """A detector is judged on a fourth as many tasks; of one, that is still one."""
    done = make(folder, "--held-out", folder / "model", "--tasks", "1", "--shots", "2")
    assert done.returncode == 0, done.stderr
    assert Model.open(folder / "made").learner.sharpness in GRIDS[DETECTOR]["sharpness"]


def test_a_network_without_a_model_finds_things_once_it_is_made(tiny_model: Path, tmp_path: Path) -> None:
    """From a detector with random weights and a few photos to boxes, with no other help than the command's."""
    detector = Path(shutil.copytree(tiny_model, tmp_path / "detector"))
    card = read_card(detector)
    write_card(detector / CARD_NAME, replace(card, trained_on={"classes": list(load_split("coco60").base)}))
    (tmp_path / "data" / "coco60").mkdir(parents=True)
    write_photos(tmp_path / "data" / "coco60").rename(tmp_path / "data" / "coco60" / "base_val2017.json")
    done = make(tmp_path, "--like", shipped_model())
    assert done.returncode == 0, done.stderr
    for name in ("dog-1.jpg", "dog-2.jpg", "dog-3.jpg"):
        (tmp_path / "photos" / "dog").mkdir(parents=True, exist_ok=True)
        shutil.copy(PHOTOS / name, tmp_path / "photos" / "dog")
    found = run_here("localize", tmp_path / "photos", "-o", tmp_path / "run", "--model", tmp_path / "made")
    assert found.returncode == 0, found.stderr
    boxes = json.loads((tmp_path / "run" / "boxes.json").read_text())
    assert len(boxes["annotations"]) == 3
    assert (tmp_path / "run" / "report.html").is_file()
