"""The ML backend without its wires: what Label Studio asks, answered by a run that learns from annotators."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple, final

from tag2box.data.formats.parsing import field
from tag2box.data.labelled import LabelledPhoto, LabelledPhotos
from tag2box.doors.label_studio.hearing import corrections_in
from tag2box.doors.label_studio.interface import Interface, read_interface
from tag2box.doors.label_studio.matching import PhotoFinder
from tag2box.doors.label_studio.pushing import version_of
from tag2box.errors import reason_of
from tag2box.product.finding import ERROR_RATE
from tag2box.product.run import Run
from tag2box.product.run_files import read_facts
from tag2box.words import counted

HEARD = {"ANNOTATION_CREATED", "ANNOTATION_UPDATED"}
"""Actions of webhooks that say something about a photo."""
PATIENCE = 60.0
"""Seconds that an answer may wait for boxes that are being made anew; Label Studio waits for 100."""

Tell = Callable[[str], None]
"""Hears in words what happens."""


class _Boxes(NamedTuple):
    """What is answered with, until the run is solved again."""

    photos: dict[str, LabelledPhoto]
    version: str

    @classmethod
    def of(cls, labelled: LabelledPhotos) -> _Boxes:
        """The boxes of a run."""
        return cls({photo.name: photo for photo in labelled.photos}, version_of(labelled))


@final
class Backend:
    """Answers from a run; several threads may ask. One at a time works on the run, and answers do not wait for a lock.

    Use it in a ``with`` block: a thread of its own solves the run again when somebody has said something.
    """

    def __init__(self, run: Run, tell: Tell = lambda _: None) -> None:
        """The run must be open, and stays the caller's to close; boxes that are not there or stale are made."""
        self._run, self._tell = run, tell
        self._working = threading.Lock()
        self._change = threading.Condition()
        self._said = self._solved = 0
        self._ended = False
        self._interfaces: dict[str, Interface] = {}
        if run.state.boxes != "fresh":
            self._localize()
        self._boxes = _Boxes.of(run.labelled())
        self._finder = PhotoFinder(self._boxes.photos)
        self._worker = threading.Thread(target=self._work, name="solver", daemon=True)

    def __enter__(self) -> Backend:
        self._worker.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._change:
            self._ended = True
            self._change.notify_all()
        self._worker.join()

    def health(self) -> dict[str, Any]:
        """That somebody is here."""
        return {"status": "UP", "model_class": "tag2box"}

    def setup(self, body: dict[str, Any]) -> dict[str, Any]:
        """What the boxes are called now; the labeling interface is remembered, the token that comes with it is not."""
        self._remember(body.get("project"), body.get("schema"))
        return {"model_version": self._boxes.version}

    def versions(self) -> dict[str, Any]:
        """The same, as a list."""
        return {"versions": [self._boxes.version]}

    def predict(self, body: dict[str, Any]) -> dict[str, Any]:
        """Boxes for each task, in the order of the tasks; none for photos that are not in the run."""
        tasks = field(body, "tasks", list, "the request")
        interface = self._remember(body.get("project"), body.get("label_config"))
        self.wait(PATIENCE)
        boxes = self._boxes
        return {"results": [self._answer(task, interface, boxes) for task in tasks]}

    def webhook(self, body: dict[str, Any]) -> dict[str, Any]:
        """Keep what an annotator has said; when this returns it is on the disk, and the run will be solved again."""
        if str(body.get("action")) not in HEARD:
            return {"kept": 0}
        project = field(body, "project", dict, "the webhook")
        interface = self._remember(project.get("id"), project.get("label_config"))
        annotation = field(body, "annotation", dict, "the webhook")
        name = self._photo_of(field(body, "task", dict, "the webhook"), interface)
        if name is None or interface is None:
            return {"kept": 0}
        with self._working:
            known, size = self._run.known(), self._boxes.photos[name].size
            said = corrections_in(annotation, name, size, known, interface.labels)
            for one in said:
                self._run.correct(one, _author(annotation))
        if said:
            self._tell(f"{name}: {counted(len(said), 'correction')} of an annotator.")
            with self._change:
                self._said += 1
                self._change.notify_all()
        return {"kept": len(said)}

    def wait(self, seconds: float) -> bool:
        """Until everything that was said counts, or so long; whether it does."""
        with self._change:
            return self._change.wait_for(lambda: self._solved == self._said or self._ended, seconds)

    def _work(self) -> None:
        """Solve the run whenever somebody has said something, until the end."""
        while True:
            with self._change:
                self._change.wait_for(lambda: self._solved < self._said or self._ended)
                if self._ended:  # what is on the disk counts when the run is opened next
                    return
                said = self._said
            self._solve()
            with self._change:
                self._solved = said
                self._change.notify_all()

    def _solve(self) -> None:
        try:
            with self._working:
                self._localize()
                self._boxes = _Boxes.of(self._run.labelled())
            self._tell(f"Solved again: {self._boxes.version}.")
        except Exception as error:  # the boxes that are there still serve, and the next correction may mend it
            self._tell(f"The boxes stay as they were: {reason_of(error)}")

    def _localize(self) -> None:
        """Make the boxes in the way in which they were made."""
        how = read_facts(self._run.folder).further
        error_rate = float(how.get("error_rate", ERROR_RATE))
        self._run.localize(all_instances=bool(how.get("all_instances")), error_rate=error_rate)

    def _remember(self, project: object, config: object) -> Interface | None:
        """The labeling interface of a project: as it is told now, or as it was told last."""
        key = str(project).split(".")[0]  # followed by the time at which the project was made
        if isinstance(config, str) and config.strip():
            self._interfaces[key] = read_interface(config, f"project {key}")
        return self._interfaces.get(key)

    def _photo_of(self, task: Any, interface: Interface | None) -> str | None:
        match = self._finder.find((interface.reference(task, "a task") if interface else None) or "")
        return match.name if match else None

    def _answer(self, task: Any, interface: Interface | None, boxes: _Boxes) -> dict[str, Any]:
        name = self._photo_of(task, interface)
        photo = boxes.photos.get(name) if name else None
        prediction = interface.prediction(photo, boxes.version) if interface and photo else None
        return prediction or {"model_version": boxes.version, "score": 0.0, "result": []}


def _author(annotation: dict[str, Any]) -> str:
    """Who has said it, by the number that Label Studio has for people."""
    person = annotation.get("completed_by")
    number = person.get("id") if isinstance(person, dict) else person
    return f"Label Studio, user {number}" if isinstance(number, int) else "Label Studio"
