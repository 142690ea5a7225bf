"""``tag2box export`` and ``tag2box evaluate`` as a person or a script uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from PIL import Image
from typer.testing import CliRunner, Result

from tag2box.cli.evaluate import evaluate
from tag2box.cli.photos import export
from tag2box.data import FoundBox, LabelledPhoto, LabelledPhotos
from tag2box.data.formats.coco import write_boxes
from tag2box.errors import DatasetError, ExportError, RunError

app = typer.Typer()
app.command()(export)
app.command()(evaluate)


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with two photos, one of which has its box in the wrong place."""
    right, wrong = FoundBox("cup", (2, 2, 30, 20), 0.9, 0.1), FoundBox("cup", (30, 20, 40, 30), 0.6, 0.4)
    photos = (LabelledPhoto("cup/a.jpg", 30, 40, (right,)), LabelledPhoto("cup/b.jpg", 30, 40, (wrong,)))
    (tmp_path / "photos" / "cup").mkdir(parents=True)
    for photo in photos:
        Image.new("RGB", (40, 30)).save(tmp_path / "photos" / photo.name)
    (tmp_path / "run").mkdir()
    write_boxes(tmp_path / "run" / "boxes.json", LabelledPhotos(tmp_path / "photos", ("cup",), photos), {})
    truth = [LabelledPhoto(photo.name, 30, 40, (right,)) for photo in photos]
    write_boxes(tmp_path / "photos" / "truth.json", LabelledPhotos(Path(), ("cup",), tuple(truth)), {})
    return tmp_path / "run"


def test_export_writes_the_formats_and_says_where(run: Path, tmp_path: Path) -> None:
    done = call("export", run, "--to", "coco, YOLO", "-o", tmp_path / "out", "--max-doubt", "0.3")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"1 photo into {tmp_path / 'out' / 'coco'}.",
        f"1 photo into {tmp_path / 'out' / 'yolo'}.",
        "1 photo left out: something is in each, and no box of it is exported.",
    ]
    assert [path.name for path in (tmp_path / "out" / "yolo" / "labels" / "train").iterdir()] == ["cup__a.txt"]
    assert call("export", run, "--to", "coco", "-o", tmp_path / "out").stdout == (
        f"2 photos into {tmp_path / 'out' / 'coco'}.\n"
    )


def test_export_says_how_photos_are_split(run: Path, tmp_path: Path) -> None:
    done = call("export", run, "--to", "roboflow,huggingface", "-o", tmp_path / "out")
    assert done.stdout.splitlines() == [
        f"2 photos into {tmp_path / 'out' / 'roboflow'}.",
        f"2 photos into {tmp_path / 'out' / 'huggingface'}.",
        "Split by the names of the photos: 1 train, 1 valid, 0 test.",
    ]
    judged = call("evaluate", run, "--truth", tmp_path / "out" / "roboflow", "--json")
    assert json.loads(judged.stdout)["corloc"]["mean"] == 1.0


def test_export_refuses_what_it_cannot_do(run: Path, tmp_path: Path) -> None:
    assert isinstance(call("export", run, "--to", "word", "-o", tmp_path / "out").exception, ExportError)
    assert isinstance(call("export", tmp_path, "--to", "coco", "-o", tmp_path / "out").exception, RunError)
    assert call("export", run, "--to", "coco", "-o", tmp_path / "out", "--max-doubt", "3").exit_code == 2


def test_evaluate_prints_a_table(run: Path, tmp_path: Path) -> None:
    done = call("evaluate", run, "--truth", tmp_path / "photos" / "truth.json")
    assert done.exit_code == 0, done.output
    lines = [line.replace("│", " ").replace("┃", " ").split() for line in done.stdout.splitlines()]
    assert ["cup", "2", "50.0", "54.5", "50.0", "50.5"] in lines
    assert ["mean", "2", "50.0", "54.5", "50.0", "50.5"] in lines


def test_evaluate_prints_json_for_scripts(run: Path, tmp_path: Path) -> None:
    done = call("evaluate", run, "--truth", tmp_path / "photos" / "truth.json", "--json")
    found = json.loads(done.stdout)
    assert found["corloc"] == {"mean": 0.5, "photos": 2, "classes": {"cup": {"photos": 2, "value": 0.5}}}
    assert found["ap50"]["voc_area"] == {"mean": 0.5, "classes": {"cup": 0.5}}


def test_evaluate_takes_detections(run: Path, tmp_path: Path) -> None:
    results = [{"file_name": "cup/b.jpg", "category_name": "cup", "bbox": [2, 2, 28, 18], "score": 0.5}]
    (tmp_path / "results.json").write_text(json.dumps(results))
    done = call("evaluate", tmp_path / "results.json", "--truth", tmp_path / "photos" / "truth.json")
    assert "CorLoc" not in done.stdout.splitlines()[2]
    lines = [line.replace("│", " ").split() for line in done.stdout.splitlines()]
    assert ["mean", "54.5", "50.0", "50.5", "100.0", "50.0"] in lines


def test_evaluate_judges_the_photos_that_have_a_truth(run: Path, tmp_path: Path) -> None:
    """As the tutorial has it: some photos have true boxes, and the truth is a file without pictures."""
    content = json.loads((tmp_path / "photos" / "truth.json").read_text())
    content["images"], content["annotations"] = content["images"][:1], content["annotations"][:1]
    (tmp_path / "elsewhere").mkdir()
    truth = tmp_path / "elsewhere" / "boxes.json"
    truth.write_text(json.dumps(content))
    done = call("evaluate", run, "--truth", truth)
    assert done.exit_code == 0, done.output
    assert "1 photo has no truth and is not judged." in done.stdout
    found = json.loads(call("evaluate", run, "--truth", truth, "--json").stdout)
    assert (found["photos"], found["without_truth"], found["corloc"]["mean"]) == (1, 1, 1.0)


def test_evaluate_says_what_is_wrong_with_a_truth_once(run: Path, tmp_path: Path) -> None:
    content = json.loads((tmp_path / "photos" / "truth.json").read_text())
    content["annotations"][0]["image_id"] = 99
    (tmp_path / "truth.json").write_text(json.dumps(content))
    refused = call("evaluate", run, "--truth", tmp_path / "truth.json").exception
    assert isinstance(refused, DatasetError)
    assert refused.wrong.endswith("has the image_id 99, which the file does not list.")
    assert refused.wrong.count("annotation") == 1
