"""The whole story on planted photos, with its answers written down: whoever rebuilds the house keeps them.

Machines and libraries differ in the last digits, and EM multiplies in single precision: hence the tolerance.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from in_process import run_here
from planted_extractor import PlantedExtractor, planted_world
from planted_model import ANY_LIKENESS, UNSURE
from tag2box.data import read_truth
from tag2box.methods.calibration import Calibration, Judge, Threshold
from tag2box.model import Model
from tag2box.product.class_file import load_classes

COLOURS = {"fire": (240, 20, 10), "leaf": (20, 230, 30), "sea": (10, 20, 240)}
EXACT = 1e-5


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> tuple[Model, PlantedExtractor]:
    """What every command opens as its model."""
    model, extractor = planted_world()
    monkeypatch.setattr(Model, "open", lambda *_, **__: model)
    return model, extractor


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Four photos of each colour, in one quarter of it; the fourth of "leaf" shows the sea, which is a wrong tag."""
    for place, (tag, colour) in enumerate(COLOURS.items()):
        (tmp_path / "photos" / tag).mkdir(parents=True)
        for number in range(4):
            picture = Image.new("RGB", (160, 120), (30 + 10 * number, 60, 60 + 5 * place))
            x, y = 80 * ((number + place) % 2), 60 * (number // 2)
            shown = COLOURS["sea"] if (tag, number) == ("leaf", 3) else colour
            picture.paste(shown, (x, y, x + 80, y + 60))
            picture.save(tmp_path / "photos" / tag / f"{number}.png")
    return tmp_path / "photos"


def boxes_in(run: Path) -> dict[str, list[float]]:
    content = json.loads((run / "boxes.json").read_text())
    names = {image["id"]: image["file_name"] for image in content["images"]}
    return {names[each["image_id"]]: each["bbox"] for each in content["annotations"]}


def test_the_story_has_the_answers_it_always_had(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    done = run_here("localize", photos, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "12 photos with 3 tags (folders)." in done.stdout
    found = boxes_in(tmp_path / "run")
    assert {name: box for name, box in found.items() if name != "leaf/3.png"} == {
        f"{tag}/{number}.png": [80.0 * ((number + place) % 2), 60.0 * (number // 2), 80.0, 60.0]
        for place, tag in enumerate(COLOURS)
        for number in range(4)
        if (tag, number) != ("leaf", 3)
    }
    assert run_here("fit", photos, "--run", tmp_path / "run", "-o", tmp_path / "my.classes").returncode == 0
    known = load_classes(tmp_path / "my.classes")
    assert known.labels == ("fire", "leaf", "sea")
    axes = known.directions.argmax(axis=1).tolist()
    assert axes == [4, 2, 1]  # red, green and blue, as the planted extractor counts colours
    assert {label: round(value, 4) for label, value in known.thresholds.items()} == pytest.approx(
        {"fire": 2.5, "leaf": 2.2365, "sea": 2.5}, abs=1e-3
    )
    np.testing.assert_allclose(np.linalg.norm(known.directions, axis=1), 1.0, atol=EXACT)


def test_every_class_has_a_verdict(photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]) -> None:
    """The planted model doubts every box by one half; in the file, on the page and on the screen it says so alike."""
    run = tmp_path / "run"
    done = run_here("localize", photos, "-o", run)
    written = json.loads((run / "run.json").read_text())["verdicts"]
    assert list(written) == list(COLOURS)
    page = (run / "report.html").read_text(encoding="utf-8")
    for label, verdict in written.items():
        assert verdict["state"] == "unsure"
        assert ": some boxes are probably wrong. Draw a box in one of them, or add photos" in verdict["words"]
        assert verdict["words"].endswith(" 4 photos may not show it.")
        assert page.count(f"<p>{verdict['words']} 4 photos; about 2 of the boxes") >= 1
        (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"  {label}: ")]
        assert line.endswith((f" needs a look. {verdict['words']}", f" need a look. {verdict['words']}"))


def test_what_was_found_needs_no_words_on_the_screen(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor], monkeypatch: pytest.MonkeyPatch
) -> None:
    sure = Calibration(Judge((0.0,) * 5, -9.0), Judge((0.0,) * 2, -9.0), Threshold(0.5, 0.0), ANY_LIKENESS, UNSURE)
    monkeypatch.setattr(Model, "open", lambda *_, **__: sure_of(planted[0], sure))
    done = run_here("localize", photos, "-o", tmp_path / "run")
    assert "  sea: 4 photos, about 4 boxes right, none needs a look.\n" in done.stdout
    assert json.loads((tmp_path / "run" / "run.json").read_text())["verdicts"]["sea"] == {
        "state": "found",
        "words": "Found.",
    }
    assert "<p>Found. 4 photos; about 4" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def sure_of(model: Model, calibration: Calibration) -> Model:
    surer = replace(model, calibration=calibration)
    surer.__dict__["extractor"] = model.extractor
    return surer


def test_one_word_of_a_person_is_enough(photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]) -> None:
    said = tmp_path / "said.jsonl"
    said.write_text(json.dumps({"kind": "shows not", "photo": "leaf/3.png", "label": "leaf"}) + "\n")
    assert run_here("localize", photos, "-o", tmp_path / "run").returncode == 0
    assert "leaf/3.png" in boxes_in(tmp_path / "run")
    done = run_here("localize", photos, "-o", tmp_path / "run", "--corrections", said)
    assert done.returncode == 0, done.stderr
    assert "leaf: 3 photos" in done.stdout
    assert "leaf/3.png" not in boxes_in(tmp_path / "run")
    again = run_here("localize", photos, "-o", tmp_path / "run")  # the run has it by heart
    assert "leaf: 3 photos" in again.stdout
    exported = run_here("export", tmp_path / "run", "--to", "coco", "-o", tmp_path / "out")
    assert exported.stdout.startswith("12 photos into")  # the photo that shows no leaf is a photo of nothing now
    assert run_here("localize", photos, "-o", tmp_path / "run", "--corrections", tmp_path / "nowhere").returncode == 2
    said.write_text('{"kind": "sings"}\n')
    wrong = run_here("localize", photos, "-o", tmp_path / "run", "--corrections", said)
    assert wrong.returncode == 2
    assert "line 1 of" in wrong.stderr


def test_somebody_who_speaks_of_strangers_is_told(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    said = tmp_path / "said.jsonl"
    said.write_text(json.dumps({"kind": "tag", "photo": "elsewhere.png", "label": "leaf"}) + "\n")
    done = run_here("localize", photos, "-o", tmp_path / "run", "--corrections", said)
    assert done.returncode == 0, done.stderr
    assert "Somebody spoke of elsewhere.png, which is not among the photos" in done.stdout


def test_fitting_leaves_a_run_as_it_is(photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]) -> None:
    run = tmp_path / "run"
    assert run_here("localize", photos, "-o", run, "--all-instances", "--error-rate", "0.1").returncode == 0
    before = {name: (run / name).read_bytes() for name in ("boxes.json", "run.json", "report.html")}
    planted[1].seen.clear()
    assert run_here("fit", photos, "--run", run, "-o", tmp_path / "my.classes").returncode == 0
    assert {name: (run / name).read_bytes() for name in before} == before
    assert not planted[1].seen


def test_fit_that_was_stopped_goes_on(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor], monkeypatch: pytest.MonkeyPatch
) -> None:
    extractor, looked = planted[1], []
    plain = PlantedExtractor.extract

    def stopping(self: PlantedExtractor, picture: Path, image_id: str) -> object:
        looked.append(image_id)
        if len(looked) > 5:
            raise KeyboardInterrupt
        return plain(self, picture, image_id)

    with monkeypatch.context() as patch:
        patch.setattr(PlantedExtractor, "extract", stopping)
        done = run_here("fit", photos, "-o", tmp_path / "my.classes")
    assert done.returncode == 130
    assert not (tmp_path / "my.classes").exists()
    extractor.seen.clear()
    assert run_here("fit", photos, "-o", tmp_path / "my.classes").returncode == 0
    assert 0 < len(extractor.seen) < 12
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my.classes", "photos"]  # and nothing is left behind


def test_new_photos_are_labelled_beforehand(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    """Detections go into every format, and come back from there as they were found."""
    classes, results = tmp_path / "my.classes", tmp_path / "found.json"
    assert run_here("fit", photos, "-o", classes).returncode == 0
    assert run_here("detect", classes, photos, "-o", results).returncode == 0
    done = run_here(
        "export", results, "--photos", photos, "--to", "coco,yolo,voc,labelstudio,cvat", "-o", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    wanted = Counter(entry["category_name"] for entry in json.loads(results.read_text()) if entry["found"])
    assert sum(wanted.values()) >= 12
    for place in ("coco/annotations.json", "yolo/data.yaml", "voc", "labelstudio/tasks.json", "cvat/annotations.xml"):
        truth = read_truth(tmp_path / "out" / place)
        assert Counter(label for image in truth.images for label in image.objects) == wanted, place
        assert len(truth) == 12
    entry = json.loads((tmp_path / "out" / "coco" / "annotations.json").read_text())["annotations"][0]
    assert "score" in entry
    assert "doubt" not in entry  # a detection's score is no probability
    command = ("export", results, "--to", "coco", "-o", tmp_path / "again")
    assert run_here(*command).returncode == 2  # where are the photos?
    assert run_here(*command, "--photos", photos / "fire").returncode == 2
    assert run_here(*command, "--photos", photos, "--max-doubt", "0.1").returncode == 2
    assert run_here(*command, "--photos", photos, "--min-score", "0.999999").returncode == 0


def test_boxes_of_annotations_are_believed_when_somebody_says_so(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor]
) -> None:
    assert run_here("localize", photos, "-o", tmp_path / "run").returncode == 0
    assert run_here("export", tmp_path / "run", "--to", "coco", "-o", tmp_path / "out").returncode == 0
    done = run_here(
        "localize", photos, "-o", tmp_path / "again", "--trusted", tmp_path / "out" / "coco" / "annotations.json"
    )
    assert done.returncode == 0, done.stderr
    assert "12 boxes of" in done.stdout
    content = json.loads((tmp_path / "again" / "boxes.json").read_text())
    assert {entry["doubt"] for entry in content["annotations"]} == {0.0}
    assert boxes_in(tmp_path / "again") == boxes_in(tmp_path / "run")


def test_photos_that_cannot_be_opened_here_are_named_by_every_command(
    photos: Path, tmp_path: Path, planted: tuple[Model, PlantedExtractor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tag2box.data.photo_files.needs_heif", lambda path: path.suffix == ".heic")
    (photos / "fire" / "phone.heic").write_bytes(b"not to be read here")
    for command in (
        ("localize", photos, "-o", tmp_path / "run"),
        ("fit", photos, "-o", tmp_path / "my.classes"),
        ("detect", tmp_path / "my.classes", photos),
    ):
        done = run_here(*command)
        assert done.returncode == 0, done.stderr
        assert "1 file is HEIC or HEIF" in done.stdout, command
        assert "phone.heic" in done.stdout
