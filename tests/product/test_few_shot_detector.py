"""The product in Python: five lines that find, learn, detect, save and load."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tag2box
from in_process import run_here
from tag2box import FewShotDetector
from tag2box.errors import ClassFileError, InputError, PhotoError, ShapeError, TagsError
from tag2box.product.class_file import load_classes
from tag2box.product.events import Advanced, Learned
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
    assert more[1].stat().st_size < 2 * 18 * 1024


def test_adding_leaves_what_is_known_as_it_is(more: tuple[FewShotDetector, Path], tmp_path: Path) -> None:
    grown, before = more
    grown.save(tmp_path / "grown")
    assert grown.classes_ == ("ball", "car", "lamp")
    assert [set(found) for found in grown.localizations_] == [{"lamp"}, {"lamp"}]
    old, new = load_classes(before), load_classes(tmp_path / "grown")
    np.testing.assert_array_equal(new.directions[:2], old.directions)
    assert {label: new.thresholds[label] for label in old.labels} == old.thresholds


def test_a_class_can_count_as_found_from_another_score_on(
    more: tuple[FewShotDetector, Path], found: Detections, tmp_path: Path
) -> None:
    stricter, best = FewShotDetector.load(more[1]), float(found.scores[found.labels == "ball"].max())
    assert stricter.found_from("ball", best) is stricter
    again = stricter.detect(QUERY, min_score=0.0)
    assert float(again.scores[again.labels == "ball"].max()) == pytest.approx(0.5, abs=1e-6)
    stricter.save(tmp_path / "stricter")
    assert [one.min_score for one in load_classes(tmp_path / "stricter").classes] == [best, 0.5]
    assert list(FewShotDetector.load(tmp_path / "stricter").detect(QUERY, min_score=0.0)) == list(again)
    assert list(stricter.found_from("ball", 0.5).detect(QUERY, min_score=0.0)) == list(found)
    for label, score in (("cup", 0.7), ("ball", 0.0)):
        with pytest.raises(ClassFileError):
            stricter.found_from(label, score)
    assert list(stricter.detect(QUERY, min_score=0.0)) == list(found)


def test_every_class_that_was_learned_has_a_verdict(
    detector: FewShotDetector, more: tuple[FewShotDetector, Path]
) -> None:
    assert FewShotDetector().verdicts_ == {}
    assert set(detector.verdicts_) == {"ball", "car"}
    assert set(more[0].verdicts_) == {"lamp"}  # what a file knew is not judged again
    for verdict in (*detector.verdicts_.values(), *more[0].verdicts_.values()):
        assert verdict.state in {"found", "unsure", "failed"}
        assert verdict.words.endswith(".")


@pytest.mark.parametrize(
    ("kind", "images", "tags", "words"),
    [
        (ShapeError, PATHS[:2], [["ball"]], "there are 2 photos and 1 sets of tags"),
        (ShapeError, PATHS[:2], ["ball", "ball"], r"are the text 'ball'[\s\S]*pass \['ball'\]"),
        (TagsError, PATHS[:2], [["pen"], ["cup"]], "no tag has two photos that can be used; with one photo: cup, pen"),
        (TagsError, PATHS[:2], [[], []], "no tag has two photos that can be used"),
        (TagsError, [], [], "no tag has two photos that can be used"),
        (PhotoError, ["nowhere.jpg", PATHS[0]], [["pen"], ["pen"]], r"nowhere\.jpg cannot be read"),
        (PhotoError, [np.zeros((5, 5, 3)), PATHS[0]], [["pen"]] * 2, "type float64 is no picture"),
        (PhotoError, [np.zeros((5, 5, 2), np.uint8), PATHS[0]], [["pen"]] * 2, r"shape \(5, 5, 2\)"),
        (PhotoError, [b"JPEG", None], [["pen"]] * 2, "a picture was given as bytes"),
        (TagsError, PATHS[:2], [["pe\nn"]] * 2, "photo 0: the tag 'pe.nn' has characters that cannot be shown"),
        (TagsError, PATHS[:2], [["_none"]] * 2, "is the name of the folder for photos without"),
        (TagsError, PATHS[:2], [[7]] * 2, "photo 0: the tag 7 is not a text"),
        (ClassFileError, PATHS[:2], [["ball"]] * 2, "the detector knows 'ball' already"),
    ],
)
def test_wrong_input_is_explained_and_changes_nothing(
    detector: FewShotDetector, kind: type[InputError], images: list[Any], tags: list[Any], words: str
) -> None:
    before = (detector._detector, detector.classes_, detector.localizations_)
    with pytest.raises(kind, match=words):
        detector.add(images, tags)
    if kind is not ClassFileError or "already" not in words:
        with pytest.raises(kind, match=words):
            detector.fit(images, tags)
    assert (detector._detector, detector.classes_, detector.localizations_) == before


def test_a_file_of_another_extractor_is_refused(tmp_path: Path, more: tuple[FewShotDetector, Path]) -> None:
    known = load_classes(more[1])
    content = more[1].read_bytes().replace(known.fingerprint.encode(), b"x" * len(known.fingerprint))
    (tmp_path / "foreign.classes").write_bytes(content)
    with pytest.raises(ClassFileError, match=r"foreign\.classes was made with the extractor xxx"):
        FewShotDetector.load(tmp_path / "foreign.classes")


def test_who_knows_nothing_says_so() -> None:
    detector = FewShotDetector()
    assert repr(detector) == "<FewShotDetector of nothing yet>"
    with pytest.raises(ClassFileError, match=r"knows nothing yet[\s\S]*call fit, or load a class file"):
        detector.detect(Image.new("L", (40, 30)))


def test_several_photos_give_a_list(detector: FewShotDetector, found: Detections) -> None:
    both = detector.detect([QUERY, opened(QUERY)], min_score=0.0)
    assert [list(each) for each in both] == [list(found)] * 2
    assert repr(detector) == "<FewShotDetector of ball, car>"


def test_a_tag_with_one_photo_is_left_out_as_the_command_does() -> None:
    with pytest.warns(UserWarning, match="one photo alone shows it: 'cup'"):
        detector = FewShotDetector().fit(PATHS, [["ball"], ["ball"], ["cup"]])
    assert (detector.classes_, detector.left_out_) == (("ball",), ("cup",))
    assert detector.localizations_[2] == {}


def test_one_thing_has_one_name_however_it_is_written() -> None:
    detector = FewShotDetector().fit(PATHS[:2], [["caf\u00e9"], [" cafe\u0301 "]])
    assert detector.classes_ == ("caf\u00e9",)


def test_the_command_and_python_learn_the_same(detector: FewShotDetector, tmp_path: Path) -> None:
    """From the same photos, to the bit."""
    table = tmp_path / "photos" / "metadata.csv"
    table.parent.mkdir()
    lines = ["file_name,tags"]
    for path, words in zip(PATHS, TAGS, strict=True):
        shutil.copy(path, table.parent)
        lines.append(f"{path.name},{';'.join(sorted(words))}")
    table.write_text("\n".join(lines))
    done = run_here("fit", table.parent, "-o", tmp_path / "by.classes")
    assert done.returncode == 0, done.stderr
    detector.save(tmp_path / "python.classes")
    command, python = load_classes(tmp_path / "by.classes"), load_classes(tmp_path / "python.classes")
    np.testing.assert_array_equal(command.directions, python.directions)
    assert command.thresholds == python.thresholds
    assert command.labels == python.labels


def test_a_listener_hears_of_photos_and_classes() -> None:
    heard: list[object] = []
    FewShotDetector(listen=heard.append).fit(PATHS, TAGS)
    assert [event.done for event in heard if isinstance(event, Advanced) and event.stage == "extract"] == [1, 2, 3]
    assert [event.label for event in heard if isinstance(event, Learned)] == ["ball", "car"]


def test_it_is_among_the_names_of_the_package() -> None:
    assert "FewShotDetector" in dir(tag2box)
