"""The comparison of two houses sees every difference that matters, and none that does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from safetensors.numpy import save_file

from compare_houses import compare_endings, disagreements, print_table
from houses.differences import (
    ByName,
    Comparison,
    boxes_of,
    class_file,
    compare_detections,
    compare_folders,
    compare_values,
    sizes_of,
)
from houses.house import Ending
from houses.photo_sets import copy_photos

TOLERANCE = 1e-6


def coco(score: float = 0.5, width: int = 500, **further: Any) -> dict[str, Any]:
    entry = {"id": 7, "image_id": 1, "category_id": 1, "bbox": [1.0, 2.0, 3.0, 4.0], "score": score, **further}
    return {
        "images": [{"id": 1, "file_name": "a.jpg", "width": width, "height": 375}],
        "categories": [{"id": 1, "name": "mug"}],
        "annotations": [entry],
    }


def test_numbers_may_differ_by_the_tolerance_and_the_largest_is_told() -> None:
    near = compare_values("boxes", boxes_of(coco(0.5)), boxes_of(coco(0.5 + 5e-7)), TOLERANCE)
    assert near.same
    assert near.largest == {"score": pytest.approx(5e-7)}
    far = compare_values("boxes", boxes_of(coco(0.5)), boxes_of(coco(0.6)), TOLERANCE)
    assert far.differing == ("/a.jpg/mug[0]/score: 0.5 → 0.6",)


def test_a_further_field_is_noted_a_missing_one_differs() -> None:
    more = compare_values("boxes", boxes_of(coco()), boxes_of(coco(absence=0.1)), TOLERANCE)
    assert more.same
    assert more.notes == ("new field absence (1 ×)",)
    assert not compare_values("boxes", boxes_of(coco(absence=0.1)), boxes_of(coco()), TOLERANCE).same


def test_a_photo_a_class_or_a_box_too_many_differs() -> None:
    one = ByName({"a.jpg": ByName({"mug": [{"score": 1.0}]})})
    for more in (
        ByName({**one, "b.jpg": ByName()}),
        ByName({"a.jpg": ByName({"mug": [{"score": 1.0}], "pen": []})}),
        ByName({"a.jpg": ByName({"mug": [{"score": 1.0}] * 2})}),
    ):
        assert not compare_values("boxes", one, more, TOLERANCE).same
        assert not compare_values("boxes", more, one, TOLERANCE).same


def test_sizes_are_compared_apart_from_boxes() -> None:
    old, new = coco(width=499), coco(width=500)
    assert compare_values("boxes", boxes_of(old), boxes_of(new), TOLERANCE).same
    assert compare_values("sizes", sizes_of(old), sizes_of(new), TOLERANCE).largest == {"width": 1.0}


@pytest.mark.parametrize(("old", "new"), [(float("nan"), 1.0), (None, 1.0), ("a", "b"), ([1], 1)])
def test_what_is_no_pair_of_numbers_must_be_equal(old: Any, new: Any) -> None:
    assert not compare_values("value", {"x": old}, {"x": new}, TOLERANCE).same
    assert compare_values("value", {"x": old}, {"x": old}, TOLERANCE).same
    assert compare_values("value", {"x": old}, {"x": new}, TOLERANCE, ignored=("x",)).same


def test_detections_below_the_threshold_are_only_counted() -> None:
    found = {"file_name": "a.jpg", "category_name": "mug", "score": 0.7, "bbox": [1.0, 2.0, 3.0, 4.0]}
    doubtful = found | {"score": 0.3}
    listed = compare_detections("results", [found], [found | {"file_name": "photos/a.jpg"}, doubtful], TOLERANCE)
    assert listed.same
    assert listed.notes == ("0 → 1 entries below 0.5",)
    assert not compare_detections("results", [found], [doubtful], TOLERANCE).same
    assert not compare_detections("results", [found], [found, found], TOLERANCE).same


def test_class_files_are_read_with_their_metadata(tmp_path: Path) -> None:
    for name, shift in (("old", 0.0), ("new", 1e-3)):
        facts = {"format": "x", "classes": json.dumps([{"label": "mug", "provenance": {"learned": name}}])}
        save_file({"directions": np.array([[1.0, shift]], np.float32)}, tmp_path / name, facts)
    old, new = class_file(tmp_path / "old"), class_file(tmp_path / "new")
    compared = compare_values("classes", old, new, TOLERANCE, ignored=("learned",))
    assert compared.largest == {"directions": pytest.approx(1e-3)}
    assert len(compared.differing) == 1
    assert compare_values("classes", old, new, 2e-3, ignored=("learned",)).same


def test_exports_are_compared_by_name_and_by_text(tmp_path: Path) -> None:
    for name, number in (("old", "0.25"), ("new", "0.5")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.jpg").write_bytes(name.encode())
        (folder / "a.txt").write_text(f"0 {number} 1\n")
        (folder / "data.yaml").write_text(f"path: {folder}\n")
    names, texts = compare_folders("export", tmp_path / "old", tmp_path / "new", TOLERANCE)
    assert names.same
    assert texts.largest == {"a.txt": 0.25}
    assert len(texts.differing) == 1  # neither the pictures nor the folder's own path
    (tmp_path / "new" / "b.txt").write_text("")
    names, _ = compare_folders("export", tmp_path / "old", tmp_path / "new", TOLERANCE)
    assert names.differing == ("/b.txt: (absent) → True",)


def test_endings_must_be_alike() -> None:
    good, bad = Ending(0, "", ""), Ending(2, "", "first\nthe truth has no photo\n")
    assert compare_endings("evaluate", good, good) == Comparison("evaluate ends")
    assert not compare_endings("evaluate", good, bad).same
    assert "no photo" in compare_endings("evaluate", bad, bad).notes[0]


def test_what_is_allowed_may_differ_and_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    found = [Comparison("run boxes"), Comparison("run sizes", {"width": 1.0}, ("a: 499 → 500",))]
    assert disagreements(found, []) == [found[1]]
    assert disagreements(found, ["sizes"]) == []
    print_table(found, ["sizes"])
    assert "allowed  width 1  a: 499 → 500 (1 places)" in capsys.readouterr().out


def test_photos_are_laid_out_as_the_demo(tmp_path: Path) -> None:
    source = tmp_path / "things"
    source.mkdir()
    images, boxes = [], []
    for number in range(1, 7):
        Image.new("RGB", (8, 8)).save(source / f"{number}.png")
        images.append({"id": number, "file_name": f"{number}.png", "width": 8, "height": 8})
        boxes.append({"id": number, "image_id": number, "category_id": 1, "bbox": [0, 0, 4, 4]})
    truth = {"images": images, "annotations": boxes, "categories": [{"id": 1, "name": "mug"}]}
    (source / "boxes.json").write_text(json.dumps(truth))
    photos = copy_photos(source, source / "boxes.json", tmp_path / "set", 2)
    assert photos.largest_class(10) == ["1.png", "2.png"]
    assert sorted(path.name for path in photos.queries.iterdir()) == ["3.png", "4.png"]
    kept = json.loads((photos.folder / "truth.json").read_text())
    assert [image["file_name"] for image in kept["images"]] == [
        "photos/1.png",
        "photos/2.png",
        "queries/3.png",
        "queries/4.png",
    ]
    assert [entry["image_id"] for entry in kept["annotations"]] == [1, 2, 3, 4]
