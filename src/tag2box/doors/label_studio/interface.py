"""The labeling interface of a project: what its rectangles are called, and which labels it has."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, final
from xml.etree.ElementTree import Element

from tag2box.data.formats.label_studio_regions import Controls, prediction_of
from tag2box.data.formats.parsing import field, parse_xml
from tag2box.data.labelled import LabelledPhoto
from tag2box.data.tags import clean_name
from tag2box.errors import DoorError

EXPECTED = (
    '<Image name="image" value="$image"/> and <RectangleLabels name="label" toName="image"> with a <Label> for each'
)

UNNAMED = "$undefined$"
"""Where photos are that were uploaded before there was an interface."""


@final
@dataclass(frozen=True)
class Interface:
    """What a project can be told about its photos."""

    controls: Controls
    key: str
    """Where the data of a task have the photo"""
    labels: tuple[str, ...]

    def reference(self, task: Any, where: str) -> str | None:
        """What a task has as its photo, if it has one; photos that came before the interface have no name yet."""
        content = field(task, "data", dict, where)
        found = content.get(self.key, content.get(UNNAMED))
        return found if isinstance(found, str) else None

    def missing(self, labels: Collection[str]) -> list[str]:
        """Those that the project does not have."""
        known = {clean_name(label) for label in self.labels}
        return sorted(label for label in labels if label not in known)

    def prediction(self, photo: LabelledPhoto, version: str) -> dict[str, Any] | None:
        """The boxes of a photo in the words of the project, but for labels that it does not have; None if none is left.

        The server would take any label, and show nothing.
        """
        spelled = {clean_name(label): label for label in self.labels}
        boxes = tuple(replace(found, label=spelled[found.label]) for found in photo.boxes if found.label in spelled)
        return prediction_of(replace(photo, boxes=boxes), self.controls, version)


def read_interface(config: str, where: str) -> Interface:
    """What an XML configuration says; one without rectangles on a photo is refused."""
    root = parse_xml(config, f"the labeling interface of {where}")
    photos = {image.get("name", ""): image.get("value", "") for image in root.iter("Image")}
    for control in root.iter("RectangleLabels"):
        name, to_name = control.get("name", ""), control.get("toName", "")
        value = photos.get(to_name, "")
        if name and value.startswith("$") and len(value) > 1:
            return Interface(Controls(name, to_name), value[1:], tuple(_labels(control)))
    raise DoorError(
        f"{where} has no rectangles to label photos with.",
        EXPECTED,
        "change it under Settings > Labeling Interface; tag2box export --to labelstudio writes one, config.xml.",
    )


def _labels(control: Element) -> Iterator[str]:
    """What results call the labels: their alias where they have one."""
    yield from (label.get("alias", "") or label.get("value", "") for label in control.iter("Label"))
