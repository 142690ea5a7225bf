"""Detections in the forms of other tools, read by those tools."""

from __future__ import annotations

import contextlib
import io
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools.coco import COCO

from samples import random_boxes
from tag2box.errors import InputError
from tag2box.types import Detections

BOXES = [[1.0, 2.0, 4.0, 8.0], [0.5, 0.0, 10.0, 20.0], [3.0, 3.0, 5.0, 5.0]]
FOUND = Detections.ranked(BOXES, [0.25, 0.75, 0.5], ["pen", "mug", "ant"])


def test_coco_results_by_hand() -> None:
    assert FOUND.to_coco(7, {"ant": 3, "mug": 1, "pen": 2}) == [
        {"image_id": 7, "category_id": 1, "bbox": [0.5, 0.0, 9.5, 20.0], "score": 0.75},
        {"image_id": 7, "category_id": 3, "bbox": [3.0, 3.0, 2.0, 2.0], "score": 0.5},
        {"image_id": 7, "category_id": 2, "bbox": [1.0, 2.0, 3.0, 6.0], "score": 0.25},
    ]
    assert Detections.joined([]).to_coco(1, {}) == []


def test_a_label_without_a_number_is_named() -> None:
    with pytest.raises(InputError, match=r"no category for 'mug'[\s\S]*numbers for ant, pen"):
        FOUND.to_coco(7, {"ant": 3, "pen": 2})


@given(st.integers(1, 8), st.integers(0, 999))
def test_pycocotools_reads_the_results_back(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.choice(["ant", "mug", "pen"], count)
    found = Detections.ranked(random_boxes(rng, count), rng.uniform(size=count), labels)
    numbers = {"ant": 1, "mug": 2, "pen": 3}
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "images": [{"id": 7, "width": 100, "height": 100, "file_name": "a"}],
            "annotations": [],
            "categories": [{"id": number, "name": name} for name, number in numbers.items()],
        }
        truth.createIndex()
        read = truth.loadRes(found.to_coco(7, numbers)).anns.values()
    boxes = np.array([entry["bbox"] for entry in read])
    boxes[:, 2:] += boxes[:, :2]
    np.testing.assert_allclose(boxes, found.boxes, rtol=1e-6)
    assert [entry["category_id"] for entry in read] == [numbers[label] for label in found.labels]
    assert [entry["score"] for entry in read] == found.scores.tolist()


def test_supervision_gets_the_same() -> None:
    supervision = pytest.importorskip("supervision")
    found = FOUND.to_supervision()
    assert isinstance(found, supervision.Detections)
    np.testing.assert_array_equal(found.xyxy, FOUND.boxes)
    np.testing.assert_allclose(found.confidence, FOUND.scores)
    assert found.data["class_name"].tolist() == ["mug", "ant", "pen"]
    assert found.class_id.tolist() == [1, 0, 2]
    assert found[found.class_id == 2].data["class_name"].tolist() == ["pen"]
    assert found.with_nms(0.5).xyxy.flags.writeable
    assert len(Detections.joined([]).to_supervision()) == 0


def test_who_has_no_supervision_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "supervision", None)
    with pytest.raises(InputError, match="pip install supervision"):
        FOUND.to_supervision()
