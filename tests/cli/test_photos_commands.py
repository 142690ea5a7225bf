"""The whole story as a person tells it to the command line: tags, boxes, classes, detections."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import tag2box
from command_line import run
from in_process import run_here
from tag2box.product.class_file import load_classes

DEMO = Path(tag2box.__file__).parent / "assets" / "demo"
TRUTH = DEMO / "truth.json"
QUERIES = DEMO / "queries"
KINDS = ("ball", "car", "dog", "lamp")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run on the photos that ship."""
    folder = tmp_path_factory.mktemp("story") / "run"
    done = run("localize", DEMO / "photos", "-o", folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "24 photos with 4 tags (metadata.csv)."
    for kind in KINDS:
        assert any(line.startswith(f"  {kind}: 8 photos, about ") and " look." in line for line in lines)
    assert lines[-2:] == [f"Boxes: {folder / 'boxes.json'}", f"Report: {folder / 'report.html'}"]
    assert done.stderr == ""
    return folder


@pytest.fixture(scope="module")
def classes(finished: Path) -> Path:
    """Class file learned from the run's features, in a folder that was not there."""
    path = finished.parent / "files" / "toys.classes"
    done = run_here("fit", DEMO / "photos", "--run", finished, "-o", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"4 classes in {path} ({path.stat().st_size:,} bytes)."
    assert path.stat().st_size < 4 * 34 * 1024
    return path


def test_the_boxes_are_judged(finished: Path) -> None:
    done = run_here("evaluate", finished, "--truth", TRUTH, "--json")
    assert done.returncode == 0, done.stderr
    judged = json.loads(done.stdout)
    assert judged["corloc"]["photos"] == 32
    assert judged["corloc"]["mean"] > 0.7
    shown = run_here("evaluate", finished, "--truth", TRUTH)
    assert all(kind in shown.stdout for kind in KINDS)


def test_the_boxes_are_exported(finished: Path, tmp_path: Path) -> None:
    done = run_here("export", finished, "--to", "coco,yolo", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    with contextlib.redirect_stdout(io.StringIO()):
        exported = COCO(str(tmp_path / "coco" / "annotations.json"))
    assert (len(exported.imgs), len(exported.anns)) == (24, 32)
    assert len(list((tmp_path / "yolo" / "labels").rglob("*.txt"))) == 24


def test_a_second_run_goes_on_from_the_first(finished: Path) -> None:
    shard = finished / "features" / "shard-000000.safetensors"
    before, boxes = shard.stat().st_mtime_ns, (finished / "boxes.json").read_text()
    done = run_here("localize", DEMO / "photos", "-o", finished, "--error-rate", "0")
    assert done.returncode == 0, done.stderr
    assert "Looking at photos" not in done.stdout
    assert "ball: 8 photos" in done.stdout
    assert "8 need a look" in done.stdout
    assert shard.stat().st_mtime_ns == before
    assert (finished / "boxes.json").read_text() == boxes
    assert json.loads((finished / "run.json").read_text())["error_rate"] == 0


def test_more_of_the_same_is_found_on_request(finished: Path, tmp_path: Path) -> None:
    again = Path(shutil.copytree(finished, tmp_path / "again"))
    done = run_here("localize", DEMO / "photos", "-o", again, "--all-instances")
    assert done.returncode == 0, done.stderr
    one, more = (json.loads((folder / "boxes.json").read_text())["annotations"] for folder in (finished, again))
    assert len(more) >= len(one)
    assert {(each["image_id"], each["category_id"]) for each in more} == {
        (each["image_id"], each["category_id"]) for each in one
    }


def test_detections_of_new_photos_are_written_drawn_and_judged(classes: Path, tmp_path: Path) -> None:
    results, drawn = tmp_path / "new" / "results.json", tmp_path / "drawn"
    done = run_here("detect", classes, QUERIES, "-o", results, "--draw", drawn)
    assert done.returncode == 0, done.stderr
    found = json.loads(results.read_text())
    sure = [entry for entry in found if entry["found"]]
    below = len(found) - len(sure)
    assert f"{len(sure):,} detections in {results}, and {below:,} below the threshold of their class." in done.stdout
    assert sum(line.count(kind) for line in done.stdout.splitlines() for kind in KINDS if ": " in line) >= len(sure)
    assert all(entry["found"] == (entry["score"] >= 0.5) for entry in found)
    assert max(Counter(entry["file_name"] for entry in found).values()) <= 100
    assert not list(results.parent.glob(".*"))  # nothing to go on from is left behind
    names = {path.name for path in QUERIES.iterdir()}
    assert {path.name for path in drawn.iterdir()} == names
    with Image.open(drawn / "dog-7.jpg") as picture, Image.open(QUERIES / "dog-7.jpg") as original:
        assert picture.size == original.size
    require_coco_results(results)
    truth = Path(shutil.copytree(QUERIES, tmp_path / "queries")).with_name("truth.json")
    truth.write_text(json.dumps(queries_only(json.loads(TRUTH.read_text()))))
    judged = run_here("evaluate", results, "--truth", truth, "--json")
    assert judged.returncode == 0, judged.stderr
    assert json.loads(judged.stdout)["photos"] == 12
    assert json.loads(judged.stdout)["ap50"]["voc_area"]["mean"] > 0.5


def test_pycocotools_and_evaluate_agree_on_results_with_the_ids_of_the_truth(classes: Path, tmp_path: Path) -> None:
    """Ids of the truth's own, in no order, and the whole ranking: the same average precision to six digits."""
    truth, results = tmp_path / "truth.json", tmp_path / "results.json"
    content = queries_only(json.loads(TRUTH.read_text()))
    for entry in content["annotations"]:
        entry |= {"image_id": 1000 - 7 * int(entry["image_id"]), "category_id": 50 - int(entry["category_id"])}
    for entry in content["images"]:
        entry |= {"id": 1000 - 7 * int(entry["id"])}
    for entry in content["categories"]:
        entry |= {"id": 50 - int(entry["id"])}
    truth.write_text(json.dumps(content))
    shutil.copytree(QUERIES, tmp_path / "queries")
    done = run_here("detect", classes, QUERIES, "-o", results, "--ids-from", truth, "--min-score", "0.9")
    assert done.returncode == 0, done.stderr
    judged = run_here("evaluate", results, "--truth", truth, "--json")
    assert judged.returncode == 0, judged.stderr
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(truth))
        evaluation = COCOeval(coco, coco.loadRes(str(results)), "bbox")
        evaluation.params.iouThrs = np.array([0.5])
        evaluation.evaluate()
        evaluation.accumulate()
    precision = evaluation.eval["precision"][0, :, :, 0, 2]  # (recalls, classes), objects of any size
    assert precision.mean() == pytest.approx(json.loads(judged.stdout)["ap50"]["coco_101_points"]["mean"], abs=1e-6)
    assert precision.mean() > 0.5


def test_ids_that_the_truth_does_not_have_are_refused_before_the_work(classes: Path, tmp_path: Path) -> None:
    Image.new("RGB", (30, 20)).save(tmp_path / "stranger.png")
    command = ("detect", classes, tmp_path / "stranger.png")
    done = run_here(*command, "--ids-from", TRUTH, "-o", tmp_path / "results.json")
    assert done.returncode == 2
    assert "the truth has no photo 'stranger.png'" in done.stderr
    assert not (tmp_path / "results.json").exists()
    (tmp_path / "truth.json").write_text(
        json.dumps(
            {
                "images": [{"id": 3, "file_name": "stranger.png", "height": 20, "width": 30}],
                "annotations": [],
                "categories": [{"id": 1, "name": "dog"}],
            }
        )
    )
    done = run_here(*command, "--ids-from", tmp_path / "truth.json", "-o", tmp_path / "results.json")
    assert "truth.json does not know 'ball', 'car', 'lamp'" in done.stderr
    assert run_here(*command, "--ids-from", TRUTH).returncode == 2
    done = run_here(*command, "--ids-from", classes, "-o", tmp_path / "results.json")
    assert (done.returncode, "is not UTF-8" in done.stderr) == (2, True)


def test_drawings_never_replace_photos(classes: Path, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    shutil.copy(QUERIES / "dog-7.jpg", photos)
    before = (photos / "dog-7.jpg").read_bytes()
    done = run_here("detect", classes, photos, "--draw", photos)
    assert done.returncode == 2
    assert "the drawing of dog-7.jpg would lie among the photos" in done.stderr
    assert (photos / "dog-7.jpg").read_bytes() == before


def require_coco_results(path: Path) -> None:
    """The detections can be loaded beside photos of the same numbers, and name them."""
    found = json.loads(path.read_text())
    numbers = {entry["category_name"]: entry["category_id"] for entry in found}
    assert numbers == {kind: number for number, kind in enumerate(KINDS, 1) if kind in numbers}
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "images": [{"id": entry["image_id"], "file_name": entry["file_name"]} for entry in found],
            "annotations": [],
            "categories": [{"id": number, "name": kind} for kind, number in numbers.items()],
        }
        truth.createIndex()
        assert len(truth.loadRes(found).anns) == len(found)


def queries_only(truth: dict[str, list[dict[str, int | str]]]) -> dict[str, list[dict[str, int | str]]]:
    images = [image for image in truth["images"] if str(image["file_name"]).startswith("queries/")]
    ids = {image["id"] for image in images}
    annotations = [each for each in truth["annotations"] if each["image_id"] in ids]
    return truth | {"images": images, "annotations": annotations}


def test_json_goes_to_stdout_and_nothing_else_does(classes: Path, tmp_path: Path) -> None:
    blank = tmp_path / "blank [1].png"
    Image.new("RGB", (80, 60), (128, 128, 128)).save(blank)
    done = run("detect", classes, QUERIES / "dog-7.jpg", blank, "--json", "--min-score", "0.9")
    assert done.returncode == 0, done.stderr
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert (first["file_name"], first["path"]) == ("dog-7.jpg", str(QUERIES / "dog-7.jpg"))
    assert second == {"file_name": "blank [1].png", "path": str(blank), "detections": []}
    for found in first["detections"]:
        assert found["label"] in KINDS
        assert 0.9 <= found["score"] <= 1
        assert len(found["box"]) == 4
    assert "Detecting 2 of 2" in done.stderr


def test_a_pattern_means_what_it_matches_and_nothing_known_is_said(classes: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("b 2.png", "b 1.png", "c.png"):
        Image.fromarray(np.full((40, 50, 3), rng.integers(256), np.uint8)).save(tmp_path / name)
    done = run_here("detect", classes, tmp_path / "b*.png")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if "png" in line] == [
        "b 1.png: nothing known here",
        "b 2.png: nothing known here",
    ]
    missed = run_here("detect", classes, tmp_path / "z*.png")
    assert missed.returncode == 2
    assert f"there is nothing at {tmp_path / 'z*.png'}" in missed.stderr


def test_classes_come_and_go_without_touching_the_others(classes: Path, tmp_path: Path) -> None:
    listed = run_here("classes", "list", classes)
    assert listed.returncode == 0, listed.stderr
    assert all(kind in listed.stdout for kind in KINDS)
    fewer, rest, all_again = tmp_path / "fewer", tmp_path / "rest", tmp_path / "sub" / "all"
    removed = run_here("classes", "remove", classes, "dog", "lamp", "-o", fewer)
    assert removed.stdout == f"ball, car left in {fewer}.\n", removed.stderr
    assert run_here("classes", "remove", classes, "ball", "car", "-o", rest).returncode == 0
    merged = run_here("classes", "merge", rest, fewer, "-o", all_again)
    assert merged.stdout == f"dog, lamp, ball, car in {all_again}.\n", merged.stderr
    before, after = load_classes(classes), load_classes(all_again)
    for known in before.classes:
        same = after.classes[after.labels.index(known.label)]
        assert same.direction.tobytes() == known.direction.tobytes()
        assert (same.kappa, same.threshold, same.provenance) == (known.kappa, known.threshold, known.provenance)
    emptied = run_here("classes", "remove", fewer, "ball", "car")
    assert emptied.stdout == f"nothing left in {fewer}.\n"
    assert load_classes(fewer).labels == ()


def test_new_classes_are_added_to_old_ones(classes: Path, tmp_path: Path) -> None:
    photos, old = tmp_path / "photos", tmp_path / "old.classes"
    for tag, kind in (("lantern", "lamp"), ("hound", "dog")):
        (photos / tag).mkdir(parents=True)
        for number in (1, 2):
            shutil.copy(DEMO / "photos" / f"{kind}-{number}.jpg", photos / tag)
    run_here("classes", "remove", classes, "dog", "lamp", "-o", old)
    done = run_here("fit", photos, "--add-to", old, "-o", tmp_path / "new.classes")
    assert done.returncode == 0, done.stderr
    before, after = load_classes(old), load_classes(tmp_path / "new.classes")
    assert after.labels == ("ball", "car", "hound", "lantern")
    np.testing.assert_array_equal(after.directions[:2], before.directions)
    assert {label: after.thresholds[label] for label in before.labels} == before.thresholds
    again = run_here("fit", photos, "--add-to", tmp_path / "new.classes", "-o", tmp_path / "newer.classes")
    assert again.returncode == 2
    assert "new.classes knows 'hound' already" in again.stderr
    assert "Looking at photos" not in again.stdout  # said before any work
