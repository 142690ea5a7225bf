"""The labeling interface: what predictions must be called, checked by Label Studio's own SDK."""

from __future__ import annotations

from importlib import import_module

import pytest

from fake_label_studio import CONFIG
from tag2box.data import FoundBox, LabelledPhoto
from tag2box.data.formats.label_studio_regions import Controls
from tag2box.doors.label_studio.interface import Interface, read_interface
from tag2box.errors import DoorError, TagsError

RED, BLUE = FoundBox("red", (8, 12, 40, 60), 0.9, 0.25), FoundBox("blue", (0, 0, 1, 1), 0.5, 0.5)


def test_names_key_and_labels_are_those_of_the_project() -> None:
    assert read_interface(CONFIG, "project 1") == Interface(Controls("things", "photo"), "picture", ("red", "green"))


def test_results_call_a_label_by_its_alias() -> None:
    config = CONFIG.replace('value="red"', 'value="Bright red" alias="red"')
    assert read_interface(config, "project 1").labels == ("red", "green")


@pytest.mark.parametrize(
    "config",
    [
        "<View><Text name='text' value='$text'/><Labels name='l' toName='text'><Label value='red'/></Labels></View>",
        "<View><Image name='a' value='$a'/><RectangleLabels name='l' toName='b'/></View>",
        "<View><Image name='a' value='$a'/><BrushLabels name='l' toName='a'><Label value='red'/></BrushLabels></View>",
    ],
)
def test_an_interface_without_rectangles_is_refused(config: str) -> None:
    with pytest.raises(DoorError, match="project 7 has no rectangles"):
        read_interface(config, "project 7")


@pytest.mark.parametrize("config", ["<View>", "<!DOCTYPE x [<!ENTITY a 'b'>]><View/>"])
def test_what_is_no_sound_xml_is_refused(config: str) -> None:
    with pytest.raises(TagsError, match="labeling interface of project 7"):
        read_interface(config, "project 7")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Label Studio's models are of another pydantic
def test_a_prediction_is_what_label_studio_takes() -> None:
    interface = read_interface(CONFIG, "project 1")
    prediction = interface.prediction(LabelledPhoto("a.jpg", 120, 160, (RED, BLUE)), "tag2box-1")
    assert prediction is not None
    theirs = import_module("label_studio_sdk.label_interface").LabelInterface(CONFIG)
    assert theirs.validate_prediction(prediction, return_errors=True) == []
    (region,) = prediction["result"]  # the project has no label for blue things
    assert region["value"] == {
        "x": 5.0, "y": 10.0, "width": 20.0, "height": 40.0, "rotation": 0, "rectanglelabels": ["red"]
    }  # fmt: skip
    assert prediction["score"] == region["score"] == 0.75
    wrong = {**prediction, "result": [{**region, "from_name": "label"}]}
    assert theirs.validate_prediction(wrong, return_errors=True) != []


def test_a_photo_without_boxes_that_can_be_shown_has_no_prediction() -> None:
    interface = read_interface(CONFIG, "project 1")
    assert interface.prediction(LabelledPhoto("a.jpg", 120, 160, (BLUE,)), "tag2box-1") is None
    assert interface.missing({"red", "blue"}) == ["blue"]
