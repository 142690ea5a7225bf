"""Runs and detections are judged by the rules of the field, on the right photos, or refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from tag2box.data import (
    FORMATS,
    Dataset,
    DatasetImage,
    FoundBox,
    LabelledPhoto,
    LabelledPhotos,
    read_truth,
    write_formats,
)
from tag2box.data.formats.coco import write_boxes
from tag2box.errors import RunError
from tag2box.product.judging import judge_file, judge_results, judge_run
from tag2box.types import Detection, Truth

Objects = list[tuple[str, tuple[float, float, float, float]]]
HERE, AWAY = (10.0, 10.0, 50.0, 50.0), (60.0, 60.0, 90.0, 90.0)


def truth_of(photos: dict[str, Objects], classes: tuple[str, ...] = ("cup", "pen")) -> Dataset:
    images = [
        DatasetImage(
            Path("/truth") / name,
            100,
            100,
            Truth.plain(str(number), [box for _, box in things], [label for label, _ in things]),
        )
        for number, (name, things) in enumerate(photos.items())
    ]
    return Dataset(classes, tuple(images))


def run_of(photos: dict[str, list[FoundBox]], classes: tuple[str, ...] = ("cup", "pen")) -> LabelledPhotos:
    return LabelledPhotos(
        Path("/photos"), classes, tuple(LabelledPhoto(name, 100, 100, tuple(boxes)) for name, boxes in photos.items())
    )


def box(label: str, where: tuple[float, float, float, float], doubt: float = 0.1) -> FoundBox:
    return FoundBox(label, where, 1.0 - doubt, doubt)


def test_a_run_by_hand() -> None:
    truth = truth_of({"a.jpg": [("cup", HERE), ("pen", AWAY)], "b.jpg": [("cup", HERE)], "c.jpg": [("pen", HERE)]})
    run = run_of(
        {
            "a.jpg": [box("cup", HERE, 0.2), box("pen", HERE, 0.3)],
            "b.jpg": [box("cup", AWAY, 0.4), box("cup", HERE, 0.6)],
        }
    )
    judgement = judge_run(run, truth)
    assert judgement.photos == 2
    assert {label: (c.photos, c.value) for label, c in judgement.corloc.items()} == {"cup": (2, 0.5), "pen": (1, 0.0)}
    assert judgement.mean_corloc == 0.25
    precise = {"cup": 0.5 + 0.5 * 2 / 3, "pen": 0.0}  # a hit, a miss, a hit
    assert judgement.ap50["voc_area"] == pytest.approx(precise)
    assert judgement.ap50["voc_11_points"]["cup"] == pytest.approx((6 + 5 * 2 / 3) / 11)
    assert judgement.ap50["coco_101_points"]["cup"] == pytest.approx((51 + 50 * 2 / 3) / 101)
    assert judgement.mean_ap50["voc_area"] == pytest.approx(precise["cup"] / 2)


def test_a_class_without_objects_has_no_precision_and_json_says_null() -> None:
    truth = truth_of({"a.jpg": [("cup", HERE)]})
    found = judge_run(run_of({"a.jpg": [box("cup", HERE)]}), truth).as_json()
    assert found["corloc"] == {"mean": 1.0, "photos": 1, "classes": {"cup": {"photos": 1, "value": 1.0}}}
    assert found["ap50"]["voc_area"] == {"mean": 1.0, "classes": {"cup": 1.0, "pen": None}}
    json.dumps(found, allow_nan=False)


def test_an_empty_run_is_judged() -> None:
    judgement = judge_run(run_of({}), truth_of({"a.jpg": [("cup", HERE)]}))
    assert (judgement.photos, judgement.corloc) == (0, {})
    assert np.isnan(judgement.mean_ap50["voc_area"])


def test_photos_that_detections_do_not_mention_are_missed() -> None:
    truth = truth_of({"a.jpg": [("cup", HERE)], "b.jpg": [("cup", HERE)]})
    judgement = judge_results({"a.jpg": [Detection("cup", 0.9, HERE)]}, truth)
    assert judgement.photos == 2
    assert judgement.corloc == {}
    assert judgement.ap50["voc_area"]["cup"] == 0.5


@pytest.mark.parametrize("seed", range(3))
def test_detections_score_as_in_cocos_own_tool(seed: int) -> None:
    rng = np.random.default_rng(seed)
    photos: dict[str, Objects] = {}
    results: dict[str, list[Detection]] = {}
    for number in range(6):
        corners = rng.uniform(0, 60, size=(3, 2))
        boxes = np.hstack([corners, corners + rng.uniform(20, 40, size=(3, 2))]).round(1)
        labels = rng.choice(["cup", "pen"], size=3).tolist()
        photos[f"{number}.jpg"] = [(label, tuple(b)) for label, b in zip(labels, boxes.tolist(), strict=True)]
        moved = np.repeat(boxes, 2, axis=0) + rng.uniform(-8, 8, size=(6, 4)).round(1)
        again = rng.choice(["cup", "pen"], size=6).tolist()
        results[f"{number}.jpg"] = [
            Detection(label, float(rng.uniform()), tuple(b)) for label, b in zip(again, moved.tolist(), strict=True)
        ]
    judgement = judge_results(results, truth_of(photos))
    assert judgement.mean_ap50["coco_101_points"] == pytest.approx(coco_ap50(photos, results), abs=1e-6)


def coco_ap50(photos: dict[str, Objects], results: dict[str, list[Detection]]) -> float:
    def entry(image: int, label: str, b: tuple[float, ...]) -> dict[str, Any]:
        sides = [b[0], b[1], b[2] - b[0], b[3] - b[1]]
        return {"image_id": image, "category_id": 1 + (label == "pen"), "bbox": sides, "area": sides[2] * sides[3]}

    true = [entry(i, label, b) for i, things in enumerate(photos.values()) for label, b in things]
    found = [entry(i, d.label, d.box) | {"score": d.score} for i, ds in enumerate(results.values()) for d in ds]
    coco = COCO()
    coco.dataset = {
        "info": {},
        "images": [{"id": number} for number in range(len(photos))],
        "categories": [{"id": 1}, {"id": 2}],
        "annotations": [box | {"id": number, "iscrowd": 0} for number, box in enumerate(true, 1)],
    }
    coco.createIndex()
    evaluation = COCOeval(coco, coco.loadRes(found), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return float(evaluation.stats[1])


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a.jpg", "a.jpg"),  # not sub/a.jpg, which ends the same
        ("sub/a.jpg", "sub/a.jpg"),
        ("truth/sub/a.jpg", "sub/a.jpg"),
        ("/elsewhere/sub/a.jpg", "sub/a.jpg"),
        ("c.jpg", "deep/down/c.jpg"),
        ("other/c.jpg", "deep/down/c.jpg"),
    ],
)
def test_a_photo_finds_its_partner(name: str, path: str) -> None:
    truth = truth_of({p: [("cup", HERE if p == path else AWAY)] for p in ("a.jpg", "sub/a.jpg", "deep/down/c.jpg")})
    assert judge_run(run_of({name: [box("cup", HERE)]}), truth).mean_corloc == 1.0


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["d.jpg", "e.jpg"], "none of the 2 photos, such as 'd.jpg'"),
        (["other/a.jpg"], "'other/a.jpg' looks like both /truth/x/a.jpg and /truth/y/a.jpg"),
        (["v/b.jpg", "w/b.jpg"], "'v/b.jpg' and 'w/b.jpg' both look like /truth/x/b.jpg"),
    ],
)
def test_photos_without_a_partner_of_their_own_are_named(names: list[str], says: str) -> None:
    truth = truth_of({"x/a.jpg": [], "y/a.jpg": [], "x/b.jpg": []})
    with pytest.raises(RunError, match=says):
        judge_run(run_of({name: [] for name in names}), truth)
    with pytest.raises(RunError, match=says):
        judge_results({name: [] for name in names}, truth)


def test_photos_without_a_truth_are_counted_and_left_out() -> None:
    """Whoever has boxes for some photos can have these judged; a photo of nothing need not be in any truth."""
    truth = truth_of({"pen/1.jpg": [("pen", HERE)], "cup/2.jpg": [("cup", HERE)]})
    run = run_of(
        {
            "cup/1.jpg": [box("cup", AWAY)],  # of the name of another photo, which is in the truth
            "pen/1.jpg": [box("pen", HERE)],
            "cup/2.jpg": [box("cup", HERE)],
            "cup/3.jpg": [box("cup", AWAY)],
            "_none/4.jpg": [],
        }
    )
    judgement = judge_run(run, truth)
    assert (judgement.photos, judgement.without_truth, judgement.mean_corloc) == (2, 3, 1.0)
    assert judgement.mean_ap50["voc_area"] == 1.0
    assert judgement.as_json()["without_truth"] == 3


def test_detections_in_photos_without_a_truth_are_left_out() -> None:
    results = {"a.jpg": [Detection("cup", 0.9, HERE)], "z.jpg": [Detection("cup", 0.95, HERE)]}
    judgement = judge_results(results, truth_of({"a.jpg": [("cup", HERE)]}))
    assert (judgement.photos, judgement.without_truth, judgement.ap50["voc_area"]["cup"]) == (1, 1, 1.0)


def test_the_whole_ranking_counts_and_the_threshold_is_told_apart() -> None:
    """Below the threshold there may be more to find: average precision knows, precision and recall do not."""
    truth = truth_of({"a.jpg": [("cup", HERE)], "b.jpg": [("cup", HERE)], "c.jpg": []})
    results = {
        "a.jpg": [Detection("cup", 0.9, HERE)],
        "b.jpg": [Detection("cup", 0.2, HERE)],
        "c.jpg": [Detection("cup", 0.5, AWAY), Detection("pen", 0.499, AWAY)],
    }
    judgement = judge_results(results, truth)
    assert judgement.ap50["voc_area"]["cup"] == pytest.approx(0.5 + 0.5 * 2 / 3)
    cup, pen = judgement.at_threshold["cup"], judgement.at_threshold["pen"]
    assert (cup.precision, cup.recall) == (0.5, 0.5)
    assert np.isnan([pen.precision, pen.recall]).all()
    assert judgement.as_json()["at_threshold"] == {
        "score": 0.5,
        "mean": {"precision": 0.5, "recall": 0.5},
        "classes": {"cup": {"precision": 0.5, "recall": 0.5}, "pen": {"precision": None, "recall": None}},
    }
    assert judge_run(run_of({"a.jpg": [box("cup", HERE)]}), truth).at_threshold == {}


ONLY_WRITTEN = {"huggingface"}


@pytest.mark.parametrize("name", [each.name for each in FORMATS if each.write and each.name not in ONLY_WRITTEN])
def test_a_run_is_judged_by_its_own_exports(tmp_path: Path, name: str) -> None:
    """Boxes that a person corrected in another tool are a truth, under whatever names the tool has the photos."""
    photos = {"cup/a b.jpg": [box("cup", HERE)], "pen/a b.jpg": [box("pen", AWAY)], "_none/c.jpg": []}
    for photo in photos:
        (tmp_path / "photos" / photo).parent.mkdir(parents=True)
        Image.new("RGB", (100, 100)).save(tmp_path / "photos" / photo)
    run = replace(run_of(photos), folder=tmp_path / "photos")
    write_formats(run, [name], tmp_path)
    files = {"coco": "annotations.json", "labelstudio": "tasks.json", "fiftyone": "labels.json"}
    judgement = judge_run(run, read_truth(tmp_path / name / files.get(name, "")))
    assert (judgement.photos, judgement.without_truth) == (3, 0)
    assert (judgement.mean_corloc, judgement.mean_ap50["voc_area"]) == (1.0, 1.0)


def test_a_photo_of_another_size_is_refused() -> None:
    run = LabelledPhotos(Path("/photos"), ("cup",), (LabelledPhoto("a.jpg", 50, 100, ()),))
    with pytest.raises(RunError, match=r"100 x 50 pixels large, /truth/a\.jpg of the truth 100 x 100"):
        judge_run(run, truth_of({"a.jpg": []}))


def test_classes_that_the_truth_lacks_are_named() -> None:
    truth = truth_of({"a.jpg": []})
    with pytest.raises(RunError, match="does not know 'fork', 'spoon'"):
        judge_run(run_of({}, classes=("cup", "fork", "spoon")), truth)
    with pytest.raises(RunError, match="does not know 'fork'"):
        judge_results({"a.jpg": [Detection("fork", 0.5, HERE)]}, truth)


def test_a_file_is_taken_for_what_it_is(tmp_path: Path) -> None:
    truth = truth_of({"a.jpg": [("cup", HERE)]})
    write_boxes(tmp_path / "boxes.json", run_of({"a.jpg": [box("cup", HERE)]}), {})
    assert judge_file(tmp_path, truth).as_json() == judge_file(tmp_path / "boxes.json", truth).as_json()
    assert judge_file(tmp_path, truth).mean_corloc == 1.0
    result = {"image_id": 1, "file_name": "a.jpg", "category_name": "cup", "bbox": [10, 10, 40, 40], "score": 0.7}
    (tmp_path / "results.json").write_text(json.dumps([result]))
    judgement = judge_file(tmp_path / "results.json", truth)
    assert (judgement.corloc, judgement.ap50["voc_area"]["cup"]) == ({}, 1.0)


@pytest.mark.parametrize("text", ['[{"bbox": [0, 0, 1, 1]}]', "[1]", '[{"bbox": [1]}]', "[", '{"images": []}'])
def test_a_file_of_another_kind_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(RunError, match=r"odd\.json cannot be read as boxes"):
        judge_file(tmp_path / "odd.json", truth_of({"a.jpg": []}))


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"nowhere\.json cannot be read"):
        judge_file(tmp_path / "nowhere.json", truth_of({}))
