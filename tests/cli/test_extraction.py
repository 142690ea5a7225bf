"""From photos to a store to figures, on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from command_line import run
from in_process import run_here
from planted_extractor import PlantedExtractor, planted_world
from samples import some_knowledge
from tag2box.model import LOCALIZER, Model, Settings, save_knowledge, save_settings
from tag2box.product.rehearsal import ALARMS, AP50, CORLOC, PRECISION, RECALL, STRANGE_ALARMS, TOP
from tag2box.store import FeatureStore

SIZE = 60
CLASSES = ("cat", "dog")


@pytest.fixture(scope="module")
def annotated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen photos of each of two classes, a coloured square on noise, in COCO's layout."""
    folder = tmp_path_factory.mktemp("annotated")
    rng = np.random.default_rng(0)
    images, annotations = [], []
    for number in range(32):
        pixels = rng.integers(0, 256, (SIZE, SIZE, 3), dtype=np.uint8)
        x, y = (int(place) for place in rng.integers(0, 30, 2))
        pixels[y : y + 30, x : x + 30] = [(250, 20, 20), (20, 20, 250)][number % 2]
        Image.fromarray(pixels).save(folder / f"{number}.png")
        images.append({"id": number, "file_name": f"{number}.png", "height": SIZE, "width": SIZE})
        annotations.append({"image_id": number, "category_id": number % 2, "bbox": [x, y, 30, 30]})
    categories = [{"id": place, "name": name} for place, name in enumerate(CLASSES)]
    content = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "boxes.json").write_text(json.dumps(content))
    return folder


@pytest.fixture(scope="module")
def store(annotated: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("extracted") / "store"
    done = run("extract", annotated / "boxes.json", "-o", folder, "--model", tiny_model, "--regions", "20")
    assert done.returncode == 0, done.stderr
    assert "32 photos into" in done.stdout
    return folder


def test_a_second_run_says_that_all_is_there(annotated: Path, tiny_model: Path, store: Path) -> None:
    command = ("extract", annotated / "boxes.json", "-o", store, "--model", tiny_model)
    assert "(32 were there already)" in run(*command, "--regions", "20").stdout
    refused = run(*command)  # bags of 300 regions do not go with bags of 20
    assert refused.returncode == 2
    assert f"{store} was written by extractor" in refused.stderr


def test_another_photo_of_the_same_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the second folder is dropped in silence, and a photo that was replaced is noticed."""
    monkeypatch.setattr("tag2box.cli.store.open_extractor", lambda *_, **__: PlantedExtractor())
    for number, name in enumerate(("one [/i]", "two")):  # to rich, the first has markup in it
        (tmp_path / name).mkdir(parents=True)
        Image.new("RGB", (40, 30), (number, 0, 0)).save(tmp_path / name / "a.png")
    command, store = ("extract", tmp_path / "one [/i]", "-o"), tmp_path / "store [/b]"
    assert run_here(*command, store).returncode == 0
    done = run_here("extract", tmp_path / "two", "-o", store)
    assert done.returncode == 2
    assert "two/a.png is not the photo that it was" in done.stderr
    assert "(1 were there already)" in run_here(*command, store).stdout
    Image.new("RGB", (40, 30), "blue").save(tmp_path / "one [/i]" / "a.png")
    assert f"or delete {store} to look at all photos again" in run_here(*command, store).stderr


def test_broken_photos_are_named_and_end_in_2_after_the_others(
    annotated: Path, tiny_model: Path, tmp_path: Path
) -> None:
    shutil.copy(annotated / "0.png", tmp_path / "good.png")
    (tmp_path / "bad [1].png").write_bytes(b"nothing")
    command = ("extract", tmp_path, "-o", tmp_path / "store", "--model", tiny_model)
    done = run(*command)
    assert done.returncode == 2
    assert "1 photo into" in done.stdout
    assert "1 of 2 photos cannot be read:" in done.stderr
    assert "bad [1].png" in done.stderr
    again = run(*command, "--skip-bad")
    assert again.returncode == 0
    assert "(1 were there already)" in again.stdout
    assert "bad [1].png" in again.stdout
    assert run("store", "info", tmp_path / "store").returncode == 0


def test_recall_counts_and_goes_into_the_card(annotated: Path, tiny_model: Path, store: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    done = run("measure", "recall", store, "--truth", annotated / "boxes.json", "--model", model, "--card", "toy")
    assert done.returncode == 0, done.stderr
    assert "32 images, 32 objects" in done.stdout
    metrics = json.loads((model / "card.json").read_text())["metrics"]
    assert set(metrics["toy"]["recall"]["0.5"]) == {"10", "50", "100", "300"}
    assert 0 <= metrics["toy"]["recall"]["0.5"]["300"] <= 100


def test_prototypes_of_true_boxes(annotated: Path) -> None:
    done = run("measure", "prototypes", "--truth", annotated / "boxes.json", "--episodes", "20")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "n = 20" in line]
    assert [line.split("  ")[0] for line in lines][:2] == ["features", "features, centred"]
    assert len(lines) == 8
    assert float(lines[0].split("%")[0].split()[-1]) > 90  # red and blue


def test_colocalization_uses_the_settings_that_were_chosen(annotated: Path, store: Path, tmp_path: Path) -> None:
    header = FeatureStore(store).header
    background, chosen = tmp_path / "known.safetensors", tmp_path / "settings.json"
    save_knowledge(background, some_knowledge(header.dimension, header.fingerprint))
    values = {"axes": 12.0, "objectness_weight": 0.5}
    values |= {"commonness_weight": 1.0, "sharedness_weight": 1.0, "rivalry_weight": 1.0}
    save_settings(chosen, Settings({LOCALIZER: values}))
    command = ("measure", "colocalization", store, "--truth", annotated / "boxes.json", "--episodes", "10")
    done = run(*command, "--background", background, "--settings", chosen)
    assert done.returncode == 0, done.stderr
    assert "axes 12" in done.stdout
    for name in ("vMF-MIL", "start without EM", "oracle direction", "top objectness", "whole image"):
        assert done.stdout.count(name) == 1
    chosen.write_text("{}")
    assert "cannot be read as settings" in run(*command, "--background", background, "--settings", chosen).stderr


def test_base_detection_has_a_figure(annotated: Path, tiny_model: Path) -> None:
    done = run("measure", "base", "--truth", annotated / "boxes.json", "--model", tiny_model, "--images", "4")
    assert done.returncode == 0, done.stderr
    assert "AP50 of the trained classes on 4 images" in done.stdout


def planted_store(annotated: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Regions of the photos by the planted model, which all commands of this process then take for theirs."""
    model, extractor = planted_world()
    monkeypatch.setattr(Model, "open", lambda *_, **__: model)
    monkeypatch.setattr("tag2box.cli.store.open_extractor", lambda *_, **__: extractor)
    assert run_here("extract", annotated / "boxes.json", "-o", folder / "store").returncode == 0
    return folder / "store"


def test_the_product_is_rehearsed_as_a_person_would_use_it(
    annotated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = planted_store(annotated, tmp_path, monkeypatch)
    command = ("measure", "product", store, "--truth", annotated / "boxes.json", "--shots", "3", "--draws", "2")
    done = run_here(*command, "--strangers", store)
    assert done.returncode == 0, done.stderr
    _, heading, *lines = [line for line in done.stdout.splitlines() if line.strip()]
    assert heading == "2 classes, 3 tagged photos of each, 2 draws"
    figures = (CORLOC, TOP, AP50, PRECISION, RECALL, STRANGE_ALARMS, ALARMS, "CorLoc of the worst class")
    assert [line.strip().split("  ")[0] for line in lines] == list(figures)
    drawn = run_here(*command, "--drawn", "3")  # then no photo is left to be judged
    assert drawn.returncode == 0, drawn.stderr
    assert "2 classes, 3 tagged photos of each, a box drawn in 3 of them, 2 draws" in drawn.stdout
    assert "CorLoc" not in drawn.stdout
    assert STRANGE_ALARMS not in drawn.stdout


def test_a_scripted_person_says_what_words_are_worth(
    annotated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, picture = planted_store(annotated, tmp_path, monkeypatch), tmp_path / "words.svg"
    asked = ("--shots", "3", "--draws", "2", "--words", "1", "--picture", picture)
    done = run_here("measure", "corrections", store, "--truth", annotated / "boxes.json", *asked)
    assert done.returncode == 0, done.stderr
    assert "2 classes, 3 tagged photos of each, 2 draws" in done.stdout
    for words in ("the most doubtful first", "in any order", "not touched, after 0", "not touched, after 1"):
        assert words in done.stdout
    assert "in any order" in picture.read_text()


@pytest.mark.parametrize("command", ["extract", "measure"])
def test_what_is_not_there_is_exit_code_2(tmp_path: Path, tiny_model: Path, command: str) -> None:
    missing = tmp_path / "nowhere.json"
    arguments = {
        "extract": ("extract", missing, "-o", tmp_path / "store", "--model", tiny_model),
        "measure": ("measure", "recall", tmp_path / "store", "--truth", missing),
    }[command]
    done = run(*arguments)
    assert done.returncode == 2
    assert "nowhere.json cannot be read" in done.stderr


def test_a_split_with_few_classes_can_be_measured(annotated: Path, store: Path) -> None:
    done = run("measure", "recall", store, "--truth", annotated / "boxes.json", "--split", "voc1")
    assert done.returncode == 0, done.stderr
