"""Experiments end to end on planted images: the same tasks for all, results that stay, tables that tell."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from command_line import run
from planted_bench import plant_bench
from tag2box.data import load_split
from tag2box.experiments.bench.results import load_result
from tag2box.experiments.bench.specification import AGNOSTIC, PRECISION, QUERY, SUPPORT, read_specification
from tag2box.experiments.bench.tuning import tuned_methods
from tag2box.experiments.bench.workbench import Workbench
from tag2box.extract import CARD_NAME, write_card
from tag2box.methods.lineup import LINEUP
from tag2box.model import KNOWLEDGE_NAME, Settings, load_knowledge, load_settings, save_knowledge, save_settings

SPECIFICATION = """
title = "A small table"
question = "Does EM help?"
remark = "What we saw."
dataset = "voc07"
shots = [3]
tasks = 12
methods = ["vmf-mil", "prototypical", "mi-svm", "whole-image"]

[[paper]]
method = "vmf-mil"
measure = "query CorLoc"
value = 53.2
shots = 3

[[expect]]
better = "vmf-mil"
worse = "whole-image"
by = "ours"
"""
EVERY_IMAGE = """
title = "All at once"
question = "Do many images help?"
dataset = "voc07"
draw = "every image"
tasks = 4
show = ["support CorLoc"]
methods = ["vmf-mil", "mi-svm"]
"""
CHOSEN = {name: {key: values[-1] for key, values in LINEUP[name].grid.items()} for name in tuned_methods()}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return plant_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The experiment, and the settings."""
    asked, settings = tmp_path / "small.toml", tmp_path / "settings.json"
    asked.write_text(SPECIFICATION)
    own = {"vmf-mil": {"kappa": 40.0, "background_weight": 1.0, "steps": 20.0}}
    save_settings(settings, Settings(CHOSEN | own))
    return asked, settings


def places(bench: Workbench, settings: Path) -> list[str | Path]:
    assert bench.model is not None
    return ["--data", bench.data, "--store", bench.store, "--settings", settings, "--model", bench.model]


def test_a_table_from_tasks_to_report(bench: Workbench, files: tuple[Path, Path], tmp_path: Path) -> None:
    asked, settings = files
    first = run("bench", "run", asked, *places(bench, settings))
    assert first.returncode == 0, first.stderr
    specification = read_specification(asked)
    rows = bench.rows(specification, settings)
    results = {row.method: load_result(row.file(bench.results)) for row in rows}
    assert {name: set(result.figures) for name, result in results.items()} == {
        name: {QUERY, SUPPORT, AGNOSTIC, PRECISION} for name in specification.methods
    }
    assert results["vmf-mil"].figures[QUERY].value > 0.5 > 0.3 > results["whole-image"].figures[QUERY].value
    assert results["mi-svm"].figures[SUPPORT].value > 0.5
    assert len({result.labels for result in results.values()}) == 1  # everybody saw the same tasks
    assert "Ours:\n- weighted vMF-MIL above whole image in query CorLoc (1-way 3-shot): yes" in first.stdout

    stamps = {path: path.stat().st_mtime_ns for path in bench.results.iterdir()}
    asked.write_text(SPECIFICATION.replace('"whole-image"]', '"whole-image", "random-region"]'))
    assert run("bench", "run", asked, *places(bench, settings)).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps  # what was there is not run again
    assert len(list(bench.results.iterdir())) == len(stamps) + 1

    written = run("bench", "report", asked, *places(bench, settings), "-o", tmp_path / "report")
    assert written.returncode == 0, written.stderr
    page = (tmp_path / "report" / "results.md").read_text()
    assert "| weighted vMF-MIL | 53.2 | " in page
    assert "query CorLoc of each class" in page
    assert "| Ours | 1 | 0 | 0 | 0 |" in page
    assert "What we saw." in page
    parts = tmp_path / "report" / "results"
    for name in ("small-verdicts.svg", "small-verdicts.png"):
        assert (parts / name).stat().st_size > 5000
    assert "(results/small-verdicts.svg)" in page
    assert not (parts / "small-steps.png").exists()  # no row of this table counts steps
    assert (parts / "small.csv").read_text().count("\n") == 1 + 5
    assert (parts / "small.tex").read_text().startswith("\\begin{tabular}{lrrr}")  # the paper has no mAP here


def test_all_images_of_a_class_at_once(bench: Workbench, files: tuple[Path, Path], tmp_path: Path) -> None:
    asked, settings = files
    asked.write_text(EVERY_IMAGE)
    assert run("bench", "run", asked, *places(bench, settings)).returncode == 0
    specification = read_specification(asked)
    rows = bench.rows(specification, settings)
    results = [load_result(row.file(bench.results)) for row in rows]
    assert [set(result.figures) for result in results] == [{SUPPORT, AGNOSTIC}] * 2  # nothing was asked
    assert [len(hits) for hits in results[0].support] == [14] * 4
    run("bench", "report", asked, *places(bench, settings), "-o", tmp_path / "report")
    assert "Time against weighted vMF-MIL, in one run: MI-SVM " in (tmp_path / "report" / "results.md").read_text()


FLOOR = SPECIFICATION.split("methods", maxsplit=1)[0] + 'methods = ["whole-image"]\n'


def test_what_was_measured_on_other_annotations_or_other_base_regions_is_measured_again(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    """Both change under the same names; what is reported is always of what is there now."""
    bench = plant_bench(tmp_path / "bench")
    asked, settings = files
    asked.write_text(FLOOR)

    def measured() -> tuple[int, float]:
        told = run("bench", "run", asked, *places(bench, settings))
        assert told.returncode == 0, told.stderr
        (row,) = bench.rows(read_specification(asked), settings)
        return len(list(bench.results.iterdir())), load_result(row.file(bench.results)).figures[QUERY].value

    before = measured()
    assert before == (1, 0.0)
    assert measured() == before
    path = bench.data / "voc07/test.json"
    labelled = path.read_text()
    content = json.loads(labelled)
    for thing in content["annotations"]:
        size = content["images"][thing["image_id"] - 1]
        thing["bbox"] = [0, 0, size["width"], size["height"]]
    path.write_text(json.dumps(content))
    assert measured() == (2, 1.0)  # now the whole image is right
    path.write_text(labelled)
    assert measured() == (2, 0.0)  # as before: that result is still there
    known = load_knowledge(bench.folder / KNOWLEDGE_NAME)
    assert known.center is not None
    save_knowledge(bench.folder / KNOWLEDGE_NAME, replace(known, center=-known.center))
    assert measured() == (3, 0.0)


def test_a_damaged_result_is_named(bench: Workbench, files: tuple[Path, Path]) -> None:
    asked, settings = files
    asked.write_text(SPECIFICATION.replace("tasks = 12", "tasks = 2").replace("shots = [3]", "shots = [2]"))
    assert run("bench", "run", asked, *places(bench, settings)).returncode == 0
    (damaged,) = bench.results.glob("*whole-image-1-way-2-shot*")
    damaged.write_text(damaged.read_text()[:100])
    again = run("bench", "run", asked, *places(bench, settings))
    assert again.returncode == 2
    assert damaged.name in again.stderr.replace("\n", "")


def test_settings_are_chosen_on_held_out_classes(bench: Workbench, tmp_path: Path) -> None:
    chosen = tmp_path / "chosen.json"
    asked = [place for place in places(bench, chosen) if place not in {"--settings", chosen}]
    told = run("bench", "tune", *asked, "-o", chosen, "--method", "mi-svm", "--tasks", "6", "--shots", "2")
    assert told.returncode == 0, told.stderr
    assert "Choosing for mi-svm 17 of 17" in told.stdout
    content = json.loads(chosen.read_text())
    assert set(content["settings"]["mi-svm"]) == {"gamma", "cost"}
    assert load_settings(chosen).of("mi-svm") == content["settings"]["mi-svm"]


def test_nothing_is_chosen_on_classes_that_the_model_learned(bench: Workbench, tmp_path: Path) -> None:
    card = replace(bench.card, trained_on={"classes": list(load_split("coco60").base)})
    learned = Path(shutil.copytree(bench.model or "", tmp_path / "model"))
    write_card(learned / CARD_NAME, card)
    told = run(
        "bench", "tune", "--data", bench.data, "--store", bench.store, "--model", learned, "-o", tmp_path / "s.json"
    )
    assert told.returncode == 2
    assert "the model has learned" in told.stderr
    assert not (tmp_path / "s.json").exists()


def test_tasks_can_be_looked_at(bench: Workbench, files: tuple[Path, Path], tmp_path: Path) -> None:
    asked, settings = files
    told = run("bench", "show", asked, *places(bench, settings), "-o", tmp_path, "--count", "2", "--method", "vmf-mil")
    assert told.returncode == 0, told.stderr
    with Image.open(tmp_path / "tasks.png") as sheet:
        assert sheet.width > 4 * 200  # three images of support and a query
    assert (tmp_path / "steps.png").exists()
    asked.write_text(SPECIFICATION.replace('"mi-svm"', '"vmf-mil-scenes"'))
    scenes = ("-o", tmp_path / "scenes", "--count", "2", "--method", "vmf-mil-scenes")
    assert run("bench", "show", asked, *places(bench, settings), *scenes).returncode == 0
    assert (tmp_path / "scenes" / "steps.png").exists()  # what users get runs EM too
    wrong = run("bench", "show", asked, *places(bench, settings), "-o", tmp_path, "--method", "gaussian")
    assert wrong.returncode == 2
    assert "has no method gaussian" in wrong.stderr
