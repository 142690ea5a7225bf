"""The product in Python: five lines that find, learn, detect, save and load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tag2box
from tag2box import FewShotDetector
from tag2box.errors import ClassFileError, InputError, PhotoError, ShapeError, TooFewImagesError
from tag2box.product.class_file import load_classes
from tag2box.types import Detections

DEMO = Path(tag2box.__file__).parent / "assets" / "demo"
PHOTOS, QUERIES = DEMO / "photos", DEMO / "queries"
PATHS = [PHOTOS / name for name in ("ball-1.jpg", "ball-3.jpg", "car-1.jpg")]
TAGS = [["ball"], ["ball", "car"], {"car"}]
QUERY = QUERIES / "ball-7.jpg"


@pytest.fixture(scope="module")
def detector() -> FewShotDetector:
    return FewShotDetector().fit([str(PATHS[0]), *PATHS[1:]], TAGS)


@pytest.fixture(scope="module")
def more(detector: FewShotDetector, tmp_path_factory: pytest.TempPathFactory) -> tuple[FewShotDetector, Path]:
    """The same after a save and a load, with lamps added; and the file of before."""
    path = tmp_path_factory.mktemp("saved") / "toys.classes"
    detector.save(path)
    return FewShotDetector.load(path).add([PHOTOS / "lamp-1.jpg", PHOTOS / "lamp-2.jpg"], [["lamp"]] * 2), path


def opened(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        picture.load()
        return picture


@pytest.fixture(scope="module")
def found(detector: FewShotDetector) -> Detections:
    """Everything in the query photo, however doubtful."""
    return detector.detect(QUERY, min_score=0.0)


def test_every_tag_of_every_photo_has_one_box_inside_it(detector: FewShotDetector) -> None:
    assert detector.classes_ == ("ball", "car")
    assert [set(found) for found in detector.localizations_] == [set(tags) for tags in TAGS]
    for path, boxes in zip(PATHS, detector.localizations_, strict=True):
        width, height = opened(path).size
        for tag, one in boxes.items():
            x0, y0, x1, y1 = one.box
            assert one.label == tag
            assert 0 <= x0 < x1 <= width + 0.01
            assert 0 <= y0 < y1 <= height + 0.01
            assert 0 <= one.score <= 1
            assert 0 <= one.doubt <= 1


@pytest.mark.parametrize("form", [opened, lambda path: np.asarray(opened(path))], ids=["Pillow", "numpy"])
def test_pictures_in_memory_are_the_same_as_files(detector: FewShotDetector, found: Detections, form: Any) -> None:
    other = FewShotDetector().fit([form(path) for path in PATHS], TAGS)
    assert other.localizations_ == detector.localizations_
    assert list(other.detect(form(QUERY), min_score=0.0)) == list(found)


def test_a_higher_score_keeps_the_surest(detector: FewShotDetector, found: Detections) -> None:
    middle = float(np.median(found.scores))
    kept = list(detector.detect(QUERY, min_score=middle))
    assert 0 < len(kept) < len(found)
    assert kept == [one for one in found if one.score >= middle]


def test_detections_are_arrays_and_rows(found: Detections) -> None:
    assert found.boxes.shape == (len(found), 4)
    assert [str(array.dtype) for array in (found.boxes, found.scores)] == ["float32", "float64"]
    assert (np.diff(found.scores) <= 0).all()
    assert set(found.labels.tolist()) == {"ball", "car"}
    assert [one.box for one in found] == [tuple(box) for box in found.boxes.tolist()]
    with pytest.raises(ValueError, match="read-only"):
        found.boxes[0, 0] = 7


def test_a_saved_detector_detects_the_same(found: Detections, more: tuple[FewShotDetector, Path]) -> None:
    again = FewShotDetector.load(str(more[1]))
    assert again.classes_ == ("ball", "car")
    assert list(again.detect(str(QUERY), min_score=0.0)) == list(found)
    assert more[1].stat().st_size < 2 * 6 * 1024


def test_adding_leaves_what_is_known_as_it_is(more: tuple[FewShotDetector, Path], tmp_path: Path) -> None:
    grown, before = more
    grown.save(tmp_path / "grown")
    assert grown.classes_ == ("ball", "car", "lamp")
    assert [set(found) for found in grown.localizations_] == [{"lamp"}, {"lamp"}]
    old, new = load_classes(before), load_classes(tmp_path / "grown")
    np.testing.assert_array_equal(new.directions[:2], old.directions)
    assert {label: new.thresholds[label] for label in old.labels} == old.thresholds


@pytest.mark.parametrize(
    ("kind", "images", "tags", "words"),
    [
        (ShapeError, PATHS[:2], [["ball"]], "there are 2 photos and 1 sets of tags"),
        (ShapeError, PATHS[:2], ["ball", "ball"], r"are the text 'ball'[\s\S]*pass \['ball'\]"),
        (TooFewImagesError, PATHS[:3], [["pen"], ["pen"], ["cup"]], "only one photo shows 'cup'"),
        (TooFewImagesError, PATHS[:2], [[], []], "none of the 2 photos has a tag"),
        (TooFewImagesError, [], [], "none of the 0 photos has a tag"),
        (PhotoError, ["nowhere.jpg", PATHS[0]], [["pen"], ["pen"]], r"nowhere\.jpg cannot be read"),
        (PhotoError, [np.zeros((5, 5, 3)), PATHS[0]], [["pen"]] * 2, "type float64 is no picture"),
        (PhotoError, [np.zeros((5, 5, 2), np.uint8), PATHS[0]], [["pen"]] * 2, r"shape \(5, 5, 2\)"),
        (PhotoError, [b"JPEG", None], [["pen"]] * 2, "a picture was given as bytes"),
        (ClassFileError, PATHS[:2], [["pen\n"]] * 2, "is no name of a class"),
        (ClassFileError, PATHS[:2], [[7]] * 2, "7 is no name of a class"),
        (ClassFileError, PATHS[:2], [["ball"]] * 2, "the detector knows 'ball' already"),
    ],
)
def test_wrong_input_is_explained_and_changes_nothing(
    detector: FewShotDetector, kind: type[InputError], images: list[Any], tags: list[Any], words: str
) -> None:
    before = (detector._known, detector.classes_, detector.localizations_)
    with pytest.raises(kind, match=words):
        detector.add(images, tags)
    if kind is not ClassFileError or "already" not in words:
        with pytest.raises(kind, match=words):
            detector.fit(images, tags)
    assert (detector._known, detector.classes_, detector.localizations_) == before


def test_a_file_of_another_extractor_is_refused(tmp_path: Path, more: tuple[FewShotDetector, Path]) -> None:
    known = load_classes(more[1])
    content = more[1].read_bytes().replace(known.fingerprint.encode(), b"x" * len(known.fingerprint))
    (tmp_path / "foreign.classes").write_bytes(content)
    with pytest.raises(ClassFileError, match=r"foreign\.classes was made with the extractor xxx"):
        FewShotDetector.load(tmp_path / "foreign.classes")


def test_who_knows_nothing_finds_nothing() -> None:
    assert len(FewShotDetector().detect(Image.new("L", (40, 30)))) == 0
