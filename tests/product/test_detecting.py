"""Detecting: one name for one thing, no parts of what was found."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from in_process import run_here
from planted_extractor import PlantedExtractor, planted_classes, planted_world
from planted_model import planted_model
from tag2box.cli.endings import STOPPED_WORDS
from tag2box.data.formats.coco_results import coco_results, ids_in_order
from tag2box.errors import PhotoError
from tag2box.extract import PhotoFile, find_photos
from tag2box.methods.detectors import LikenessHead, LikenessLearner
from tag2box.model import Model
from tag2box.product.class_file import ClassSet, KnownClass, save_classes
from tag2box.product.detecting import Detector, Looked, detect_photos
from tag2box.types import Detections, ProposalBag

D = 3
MODEL = planted_model(D)
"""A cosine of 1 scores 5."""


def known(*thresholds: float) -> ClassSet:
    axes = np.eye(D, dtype=np.float32)
    return ClassSet(
        MODEL.fingerprint,
        tuple(KnownClass("abc"[c], axes[c], axes[[c]], 1.0, t, -2.0, {}) for c, t in enumerate(thresholds)),
    )


def bag(*regions: tuple[Sequence[float], Sequence[float]]) -> ProposalBag:
    boxes = [[0.0, 0.0, 100.0, 100.0], *(box for box, _ in regions)]
    features = [[0.0, 0.0, -1.0], *(feature for _, feature in regions)]
    return ProposalBag.from_raw("photo", boxes, features, np.full(len(boxes), 0.5))


def test_a_score_of_one_half_is_the_threshold() -> None:
    photo = bag(([10, 10, 30, 30], [1, 0, 0]))
    found = Detector(known(5.0), MODEL).detect(photo, 0.0)
    assert found.scores[0] == pytest.approx(0.5, abs=1e-6)
    assert len(Detector(known(5.1), MODEL).detect(photo)) == 0
    assert len(Detector(known(4.9), MODEL).detect(photo)) == 1
    assert len(Detector(ClassSet(MODEL.fingerprint, ()), MODEL).detect(photo)) == 0


def test_what_is_not_like_the_class_is_not_found_however_much_it_looks_like_an_object() -> None:
    """Likeness has a threshold of its own, and counts twice as much against it (9.7)."""
    model = planted_model(D, objectness_weight=1.0)
    axis = np.eye(D, dtype=np.float32)[0]
    sure = 1 / (1 + np.exp(-6.0))
    boxes = [[0.0, 0.0, 100.0, 100.0], [10.0, 10.0, 30.0, 30.0], [60.0, 60.0, 90.0, 90.0]]
    features = [[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.6, 0.8, 0.0]]
    photo = ProposalBag.from_raw("photo", boxes, features, np.array([0.5, 0.5, sure]))

    def scores(least: float) -> dict[float, float]:
        one = KnownClass("a", axis, axis[None], 1.0, 4.0, least, {})
        found = Detector(ClassSet(model.fingerprint, (one,)), model).detect(photo, 0.0)
        return {each.box[0]: each.score for each in found}

    free, picky = scores(-2.0), scores(0.7)
    assert free[10.0] == picky[10.0] == pytest.approx(1 / (1 + np.exp(4.0 - 5.0)), abs=1e-5)
    assert free[60.0] == pytest.approx(1 / (1 + np.exp(4.0 - 3.0 - 6.0)), abs=1e-4)
    assert picky[60.0] == pytest.approx(1 / (1 + np.exp(2 * 5.0 * (0.7 - 0.6))), abs=1e-5)
    assert picky[60.0] < 0.5 < free[60.0]


def test_an_example_is_found_where_the_shared_direction_would_miss_it() -> None:
    model = planted_model(D, example_share=0.5)
    axes = np.eye(D, dtype=np.float32)
    photo = bag(([10, 10, 30, 30], [0, 1, 0]))
    for examples, found in ((axes[[0]], 0), (axes[:2], 1)):
        one = KnownClass("a", axes[0], examples, 1.0, 2.0, 0.4, {})
        assert len(Detector(ClassSet(model.fingerprint, (one,)), model).detect(photo)) == found


def test_the_score_from_which_on_a_class_counts_becomes_one_half() -> None:
    seven_tenths = 5.0 - float(np.log(0.7 / 0.3))
    classes = known(seven_tenths, 2.0)
    photo = bag(([10, 10, 30, 30], [1, 0, 0]), ([60, 60, 90, 90], [0, 1, 0]))

    def scores(classes: ClassSet) -> dict[str, float]:
        """Of the best region of each class."""
        found = Detector(classes, MODEL).detect(photo, 0.0)
        return {label: float(found.scores[found.labels == label].max()) for label in "ab"}

    before, after = scores(classes), scores(classes.found_from("a", 0.7))
    assert before["a"] == pytest.approx(0.7, abs=1e-6)
    assert after["a"] == pytest.approx(0.5, abs=1e-6)
    assert after["b"] == before["b"]
    for score, found in ((0.69, {"a", "b"}), (0.71, {"b"})):
        assert set(Detector(classes.found_from("a", score), MODEL).detect(photo).labels.tolist()) == found


def test_a_thing_does_not_change_its_name_because_its_class_shall_be_found_less_often() -> None:
    photo = bag(([10, 10, 30, 30], [1, 0.8, 0]))
    classes = known(2.0, 2.0)
    (found,) = Detector(classes, MODEL).detect(photo)
    assert (found.label, found.score > 0.8) == ("a", True)
    assert len(Detector(classes.only(["b"]), MODEL).detect(photo)) == 1
    assert len(Detector(classes.found_from("a", 0.99), MODEL).detect(photo)) == 0
    (again,) = Detector(classes.found_from("b", 0.01), MODEL).detect(photo)
    assert again == found


def test_a_box_has_the_name_of_the_likeliest_class() -> None:
    photo = bag(([10, 10, 30, 30], [1, 0.8, 0]))
    (found,) = Detector(known(2.0, 2.0), MODEL).detect(photo)
    assert found.label == "a"
    (found,) = Detector(known(2.5, 1.0), MODEL).detect(photo)  # further above its threshold
    assert found.label == "b"


def test_parts_and_groups_are_no_things_of_their_own() -> None:
    whole, part, group = [10, 10, 50, 50], [12, 12, 30, 30], [5, 5, 95, 95]
    beside, of_another = [60, 60, 90, 90], [15, 15, 25, 25]
    photo = bag(
        (whole, [1, 0, 0]), (part, [1, 0.1, 0]), (group, [1, 0.2, 0]), (beside, [1, 0, 0.3]), (of_another, [0, 1, 0])
    )
    found = Detector(known(2.0, 2.0), MODEL).detect(photo)
    assert sorted((one.label, one.box) for one in found) == [
        ("a", (10.0, 10.0, 50.0, 50.0)),
        ("a", (60.0, 60.0, 90.0, 90.0)),
        ("b", (15.0, 15.0, 25.0, 25.0)),
    ]
    everything = Detector(known(9.0, 9.0), MODEL).detect(photo, 0.0)  # below the threshold nothing is hidden
    assert [12.0, 12.0, 30.0, 30.0] in everything.of_class("a").boxes.tolist()


def test_the_head_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Sequence[str]] = []
    plain = LikenessLearner.head

    def counted(learner: LikenessLearner, classes: Sequence[str], *rest: Any) -> LikenessHead:
        built.append(classes)
        return plain(learner, classes, *rest)

    monkeypatch.setattr(LikenessLearner, "head", counted)
    detector, photo = Detector(known(2.0, 2.0), MODEL), bag(([10, 10, 30, 30], [1, 0, 0]))
    everything = detector.detect(photo, 0.0)
    for score in (0.0, 0.5, 0.9):
        assert list(detector.detect(photo, score)) == list(everything[everything.scores >= score])
    assert built == [("a", "b")]


@pytest.fixture
def photos(tmp_path: Path) -> list[PhotoFile]:
    """Six photos, each with a red quarter."""
    (tmp_path / "photos").mkdir()
    for number in range(6):
        picture = Image.new("RGB", (80, 60), (90, 90, 90))
        picture.paste((250, number, 0), (40 * (number % 2), 0, 40 * (number % 2) + 40, 30))
        picture.save(tmp_path / "photos" / f"{number}.png")
    return find_photos([tmp_path / "photos"])


def planted_detector() -> Detector:
    return Detector(planted_classes("red thing", "green thing"), planted_world()[0])


def found_in(
    photos: list[PhotoFile], features: Path | None, extractor: PlantedExtractor
) -> list[tuple[str, list[Any]]]:
    each = detect_photos(planted_detector(), extractor, photos, features)
    return [(photo.image_id, list(looked.found) if isinstance(looked, Looked) else []) for photo, looked in each]


def test_photos_are_detected_one_by_one(photos: list[PhotoFile], tmp_path: Path) -> None:
    (tmp_path / "photos" / "3.png").write_bytes(b"no picture")
    for photo, looked in detect_photos(planted_detector(), PlantedExtractor(), photos, None):
        if photo.image_id == "3.png":
            assert isinstance(looked, PhotoError)
            continue
        assert isinstance(looked, Looked)
        assert looked.size == (60, 80)
        (sure,) = looked.found[looked.found.scores >= 0.5]
        left = 40.0 * (int(photo.image_id[0]) % 2)
        assert (sure.label, sure.box) == ("red thing", (left, 0.0, left + 40.0, 30.0))
        assert len(looked.found) > 10


def test_what_was_extracted_is_not_extracted_again(photos: list[PhotoFile], tmp_path: Path) -> None:
    features, first, second = tmp_path / "features", PlantedExtractor(), PlantedExtractor()
    stopped = detect_photos(planted_detector(), first, photos, features)
    for _ in range(4):
        next(stopped)
    stopped.close()
    found = found_in(photos, features, second)
    assert set(second.seen) == {"4.png", "5.png"}
    assert found == found_in(photos, None, PlantedExtractor())  # to the bit


@pytest.mark.parametrize("left_by", ["another extractor", "another photo", "a crash"])
def test_what_another_job_left_is_thrown_away(photos: list[PhotoFile], tmp_path: Path, left_by: str) -> None:
    features = tmp_path / "features"
    found_in(photos, features, PlantedExtractor("other" if left_by == "another extractor" else "planted"))
    if left_by == "another photo":
        shutil.copy(photos[0].path, photos[1].path)
    if left_by == "a crash":
        (features / "store.json").unlink()
    extractor = PlantedExtractor()
    assert found_in(photos, features, extractor) == found_in(photos, None, PlantedExtractor())
    assert sorted(extractor.seen) == [photo.image_id for photo in photos]


def test_the_command_goes_on_where_it_was_stopped(
    photos: list[PhotoFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it says when it is stopped; results are then those of a run that nobody stopped."""
    model, extractor = planted_world()
    monkeypatch.setattr(Model, "open", lambda *_, **__: model)
    save_classes(tmp_path / "my.classes", planted_classes("red thing"))
    command = ("detect", tmp_path / "my.classes", tmp_path / "photos", "-o")
    with monkeypatch.context() as patch:
        patch.setattr("tag2box.cli.detect.coco_results", stop_at("4.png"))
        done = run_here(*command, tmp_path / "results.json")
    assert (done.returncode, done.stderr) == (130, f"{STOPPED_WORDS}\n")
    assert not (tmp_path / "results.json").exists()
    extractor.seen.clear()
    assert run_here(*command, tmp_path / "results.json").returncode == 0
    assert set(extractor.seen) <= {"5.png"}
    extractor.seen.clear()
    assert run_here(*command, tmp_path / "at once.json").returncode == 0
    assert len(extractor.seen) == 6
    assert (tmp_path / "results.json").read_text() == (tmp_path / "at once.json").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"photos", "my.classes", "results.json", "at once.json"}


def stop_at(name: str) -> Callable[..., list[dict[str, Any]]]:
    def results(photo: str, *_: object) -> list[dict[str, Any]]:
        if photo == name:
            raise KeyboardInterrupt
        return []

    return results


def test_results_keep_the_ranking_and_mark_the_threshold() -> None:
    found = Detections.ranked(
        [[0, 0, 10, 20], [1, 2, 3, 4], [0, 0, 5, 5]], [0.5, 0.499999, 1.23456789e-8], ["a", "b", "a"]
    )
    ids = ids_in_order(["x.jpg", "photo.jpg"], ["b", "a"])
    first, second, third = coco_results("photo.jpg", found, ids)
    assert first == {
        "image_id": 2,
        "category_id": 2,
        "bbox": [0, 0, 10, 20],
        "score": 0.5,
        "found": True,
        "category_name": "a",
        "file_name": "photo.jpg",
    }
    assert (second["found"], second["bbox"], second["category_id"]) == (False, [1, 2, 2, 2], 1)
    assert third["score"] == 1.23457e-8  # no tie is made
    many = Detections.ranked(np.tile([0, 0, 1, 1], (150, 1)), np.linspace(1, 0, 150), np.full(150, "a"))
    kept = coco_results("photo.jpg", many, ids)
    assert len(kept) == 100
    assert kept[-1]["score"] == pytest.approx(many.scores[99], rel=1e-5)
