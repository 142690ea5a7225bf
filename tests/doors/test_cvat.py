"""A detector as CVAT's SDK and command line see it: loaded, asked and remapped by their own code."""

from __future__ import annotations

import logging
from importlib import import_module, util
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from planted_extractor import planted_classes, planted_world
from tag2box.doors import cvat
from tag2box.errors import ClassFileError, DoorError
from tag2box.model import Model
from tag2box.product.class_file import save_classes

with_sdk = pytest.mark.skipif(
    not (util.find_spec("cvat_sdk") and util.find_spec("cvat_cli")), reason="cvat-sdk and cvat-cli are not installed"
)
TASK_IDS = {"fire": 101, "leaf": 102}
SIDEWAYS = 6
"""EXIF: turn it by 90 degrees to the right."""


@pytest.fixture
def classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Red fire and green leaves, for a model that sees colours."""
    model, _ = planted_world()
    monkeypatch.setattr(Model, "open", lambda *_, **__: model)
    save_classes(tmp_path / "things.classes", planted_classes("fire", "leaf"))
    return tmp_path / "things.classes"


def loaded(classes: Path, **parameters: Any) -> Any:
    """The function as ``cvat-cli --function-module tag2box.doors.cvat`` loads it."""
    loader = import_module("cvat_cli._internal.common").FunctionLoader
    return loader("tag2box.doors.cvat", None, {"classes": str(classes), **parameters}).load()


def shapes_in(function: Any, image: Image.Image, threshold: float | None = None) -> list[Any]:
    """What CVAT's own mapper makes of the function's answer, for frame 7 of a task with both labels."""
    driver, models = import_module("cvat_sdk.auto_annotation.driver"), import_module("cvat_sdk").models
    labels = [
        models.Label(id=number, name=name, type="rectangle", attributes=[], sublabels=[])
        for name, number in TASK_IDS.items()
    ]
    mapper = driver._AnnotationMapper(
        logging.getLogger("cvat"), function.spec.labels, labels, allow_unmatched_labels=False, conv_mask_to_poly=False
    )
    context = driver._DetectionFunctionContextImpl(frame_name="a.png", conf_threshold=threshold)
    tags, shapes = mapper.validate_and_remap(function.detect(context, image), 7)
    assert tags == []
    return list(shapes)


def picture(**colours: tuple[int, int, int, int]) -> Image.Image:
    """A dark picture, with boxes of the colours of things."""
    image = Image.new("RGB", (160, 120), (20, 20, 20))
    for thing, box in colours.items():
        image.paste({"fire": (250, 0, 0), "leaf": (0, 250, 0)}[thing], box)
    return image


@with_sdk
def test_rectangles_have_the_labels_of_the_task_and_pixels(classes: Path) -> None:
    image = picture(fire=(0, 0, 80, 60), leaf=(80, 60, 160, 120))
    found = {shape.label_id: shape for shape in shapes_in(loaded(classes), image)}
    assert {number: shape.points for number, shape in found.items()} == {
        101: [0.0, 0.0, 80.0, 60.0],
        102: [80.0, 60.0, 160.0, 120.0],
    }
    for shape in found.values():
        assert (shape.frame, shape.type.value, shape.source) == (7, "rectangle", "auto")
        assert 0.5 <= shape.score <= 1.0


@with_sdk
def test_the_least_score_of_cvat_counts_and_ours_if_there_is_none(classes: Path) -> None:
    function, image = loaded(classes), picture(fire=(0, 0, 80, 60))
    scores = [shape.score for shape in shapes_in(function, image, 0.0)]
    assert min(scores) < 0.5 <= max(scores)
    assert scores == sorted(scores, reverse=True)
    assert [shape.score for shape in shapes_in(function, image)] == [score for score in scores if score >= 0.5]
    assert shapes_in(function, image, 0.999) == []


@with_sdk
def test_no_more_boxes_than_asked_for(classes: Path) -> None:
    image = picture(fire=(0, 0, 80, 60), leaf=(80, 60, 160, 120))
    assert len(shapes_in(loaded(classes, limit=1), image, 0.0)) == 1
    assert len(shapes_in(loaded(classes), image, 0.0)) > 2


@with_sdk
def test_a_photo_on_its_side_is_turned_as_cvat_shows_it(classes: Path, tmp_path: Path) -> None:
    """The SDK hands over the file as it is; CVAT shows it upright, 120 wide and 160 high."""
    exif = Image.Exif()
    exif[0x0112] = SIDEWAYS
    picture(fire=(0, 0, 80, 60)).save(tmp_path / "a.png", exif=exif)
    with Image.open(tmp_path / "a.png") as image:
        (shape,) = shapes_in(loaded(classes), image)
    assert shape.points == [60.0, 0.0, 120.0, 80.0]


def test_without_the_sdk_it_is_said_what_to_install(classes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cvat, "find_spec", lambda _: None)
    with pytest.raises(DoorError, match="pip install cvat-sdk cvat-cli"):
        cvat.create(str(classes))


def test_classes_that_cvat_cannot_take_are_refused(
    classes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cvat, "find_spec", lambda _: True)
    with pytest.raises(DoorError, match="at most 0 boxes"):
        cvat.create(str(classes), limit=0)
    save_classes(tmp_path / "none.classes", planted_classes())
    with pytest.raises(ClassFileError, match="knows nothing"):
        cvat.create(str(tmp_path / "none.classes"))
    save_classes(tmp_path / "long.classes", planted_classes("x" * 65))
    with pytest.raises(ClassFileError, match="has 65 characters"):
        cvat.create(str(tmp_path / "long.classes"))
