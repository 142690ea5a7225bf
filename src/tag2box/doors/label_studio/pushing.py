"""Boxes of a run, as predictions of a project's tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tag2box.data.labelled import LabelledPhotos
from tag2box.doors.label_studio.interface import Interface, read_interface
from tag2box.doors.label_studio.matching import Match, PhotoFinder
from tag2box.doors.label_studio.server import LabelStudio
from tag2box.errors import DoorError
from tag2box.product.run_files import digest_of

Report = Callable[[int, int], None]
"""Told how many are sent, and of how many."""


class Pushed(NamedTuple):
    """What became of the tasks of a project."""

    sent: int
    already: int
    """Tasks that have these very boxes"""
    without_boxes: int
    """Tasks whose photo is in the run and has no box"""
    unclear: int
    """Tasks of which several could be the same photo"""
    strangers: int
    """Tasks whose photo is not in the run"""


def version_of(labelled: LabelledPhotos) -> str:
    """What predictions with these boxes are called: other boxes, another name."""
    boxes = {photo.name: [(box.label, box.box, box.doubt) for box in photo.boxes] for photo in labelled.photos}
    return f"tag2box-{digest_of(labelled.classes, boxes)[:8]}"


def push(labelled: LabelledPhotos, server: LabelStudio, project: int, report: Report = lambda *_: None) -> Pushed:
    """Send each task its photo's boxes, once; nothing is sent unless the project has all labels and some photo."""
    interface = read_interface(server.label_config(project), f"project {project}")
    _require_labels(labelled, interface, project)
    photos, version = {photo.name: photo for photo in labelled.photos}, version_of(labelled)
    tasks = {int(task["id"]): task for task in server.tasks(project)}
    matches = _matches(tasks, interface, PhotoFinder(photos))
    clear = _clear(matches)
    _require_some(matches, tasks, project)
    boxed = [number for number in clear if photos[clear[number]].boxes]
    new = [number for number in boxed if version not in _versions(tasks[number])]
    for done, number in enumerate(new, 1):
        prediction = interface.prediction(photos[clear[number]], version)
        if prediction:
            server.add_prediction(number, prediction)
        report(done, len(new))
    unclear = len(matches) - len(clear)
    return Pushed(len(new), len(boxed) - len(new), len(clear) - len(boxed), unclear, len(tasks) - len(matches))


def _matches(tasks: Mapping[int, dict[str, Any]], interface: Interface, finder: PhotoFinder) -> dict[int, Match]:
    """Task → photo, for those that have one."""
    found = {}
    for number, task in tasks.items():
        match = finder.find(interface.reference(task, f"task {number}") or "")
        if match:
            found[number] = match
    return found


def _clear(matches: Mapping[int, Match]) -> dict[int, str]:
    """Task → photo, where no other task has as good a claim to the photo."""
    claims: dict[str, list[int]] = defaultdict(list)
    for number, match in matches.items():
        claims[match.name].append(number)
    clear = {}
    for name, numbers in claims.items():
        most = max(matches[number].steps for number in numbers)
        best = [number for number in numbers if matches[number].steps == most]
        if len(best) == 1:
            clear[best[0]] = name
    return dict(sorted(clear.items()))


def _versions(task: dict[str, Any]) -> set[str]:
    """What the predictions of a task are called."""
    predictions: Iterable[Any] = task.get("predictions") or ()
    return {str(one.get("model_version")) for one in predictions if isinstance(one, dict)}


def _require_labels(labelled: LabelledPhotos, interface: Interface, project: int) -> None:
    """The server takes labels that it does not know, and shows nothing of them."""
    missing = interface.missing({box.label for photo in labelled.photos for box in photo.boxes})
    if missing:
        raise DoorError(
            f"project {project} has no label {', '.join(map(repr, missing[:5]))}.",
            f"all labels of the run; the project has {', '.join(map(repr, interface.labels[:20])) or 'none'}",
            "add them under Settings > Labeling Interface, spelled like the tags.",
        )


def _require_some(matches: Mapping[int, Match], tasks: Mapping[int, Any], project: int) -> None:
    if not matches:
        raise DoorError(
            f"none of the {len(tasks)} tasks of project {project} has a photo of the run.",
            "tasks whose photos are called like those of the run",
            "import the photos into the project first, or tag2box export --to labelstudio, which brings them along.",
        )
