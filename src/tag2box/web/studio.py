"""One open run, and the one thread that works on it; what requests read is a snapshot that is never changed."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar, final

from tag2box.data.tags import shared_tags
from tag2box.errors import InputError, RunError
from tag2box.product.corrections import Correction, Tag, Undo
from tag2box.product.events import Event, Stopped
from tag2box.product.finding import Found, Place
from tag2box.product.history import History, history_of
from tag2box.product.own_photos import keeps_own
from tag2box.product.run import Run
from tag2box.web.bodies import Word
from tag2box.web.child import Child
from tag2box.web.events import Events
from tag2box.web.keepsakes import Keepsakes
from tag2box.web.meaning import as_found, correction_of, found_in
from tag2box.web.progress import Progress
from tag2box.web.state import Snapshot, View, labels_of, moved_boxes, photo_id
from tag2box.web.thumbnails import THUMBNAILS_NAME, Thumbnails
from tag2box.web.worker import Worker

T = TypeVar("T")
BY = "studio"
"""Who says what is said on the page."""
PATIENCE = 0.5
"""Seconds that the end waits for the thread."""
BUG = "Something went wrong in tag2box itself; the terminal says what. Everything that you said is kept."
log = logging.getLogger("tag2box.studio")


@final
class Studio:
    """A run on a page."""

    def __init__(self, run: Run) -> None:
        """The run stays locked until ``close``."""
        self.run, self.events, self.child = run, Events(), Child()
        self.thumbnails = Thumbnails(run.folder / THUMBNAILS_NAME, self.child)
        self.keepsakes = Keepsakes.read(run.folder)
        self.snapshot, self.history, self.trouble = Snapshot(), History((), ()), ""
        self.progress = Progress(self.events)
        self.may_add = keeps_own(run)
        self._worker = Worker(self._go_on)
        self._stale = self.busy = False
        self._touched: set[Place] = set()
        self._watched: dict[str, list[str]] = {}
        self._names = {photo_id(photo.name): photo.name for photo in run.given.photos}
        self._publish()

    def start(self) -> None:
        """Begin to work; what can be found is looked for at once."""
        self._stale = self.busy = self._can_learn()
        self._worker.start()

    def leave(self) -> None:
        """Let everything come to its end, and wait for nothing; any thread may say so."""
        self.events.close()
        self._worker.leave()
        self.child.leave()

    def close(self) -> None:
        """Leave long work where it is, and let others open the run."""
        self.events.close()
        self._worker.end(PATIENCE)
        self.child.close()
        self.run.close()

    def do(self, job: Callable[[], T]) -> Future[T]:
        """Let the one thread do something with the run."""
        return self._worker.do(job)

    def name_of(self, key: str) -> str:
        """The photo with an id; any other is refused."""
        if key not in self._names:
            raise RunError("there is no such photo.", "the id of a photo of this run", "load the page anew.")
        return self._names[key]

    def path_of(self, key: str) -> Path:
        """The file of the photo with an id."""
        name = self.name_of(key)
        return next(photo.path for photo in self.run.given.photos if photo.name == name)

    # What follows is for the one thread: ``studio.do(lambda: studio.find())``.

    def find(self) -> None:
        """Look for everything, as soon as nobody asks for anything else."""
        self._stale, self.trouble = True, ""
        self._publish()

    def say(self, word: Word) -> int | None:
        """Keep what a person says; the number of the correction, or None if it was said already."""
        what = correction_of(word, self.name_of(word.photo), self.run)
        return None if what is None else self._keep([what])

    def accept_up_to(self, doubt: float, labels: Collection[str]) -> int:
        """Say in one breath that boxes are right which are doubted no more than so much; how many there were.

        ``labels`` are the classes that are meant; none of them means all. Tags that are suspected are not accepted.
        """
        said = self.run.known().regions
        meant = [
            each
            for each in self.found().trusted(doubt)
            if (not labels or each.box.label in labels) and each.photo not in said.get(each.box.label, {})
        ]
        if meant:
            self._keep([as_found(self.run, each.photo, each.box) for each in meant])
        return len(meant)

    def tag(self, keys: Sequence[str], label: str) -> int:
        """Say that a thing is in photos, wherever; in how many it was not yet."""
        names, tags = [self.name_of(key) for key in keys], self.run.known().tags
        fresh = [name for name in names if label not in tags[name]]
        if fresh:
            self.run.correct_together([Tag(name, label) for name in fresh], BY)
        self._stale = self._stale or self.run.found is not None
        self._publish()
        return len(fresh)

    def undo(self) -> int | None:
        """Take back what was said last, all of one breath; the number of what that was, or None for nothing."""
        return self._turn(self.history.undo)

    def redo(self) -> int | None:
        """Say again what was taken back last."""
        return self._turn(self.history.redo)

    def keep(self, keepsakes: Keepsakes) -> None:
        """Put colours, titles and thresholds on the disk."""
        self.keepsakes = keepsakes
        keepsakes.write(self.run.folder)
        self._publish()

    def photo_came(self, name: str, title: str) -> None:
        """The run has one photo more, which a person knows by its title."""
        self.keepsakes = self.keepsakes.titled(name, title)
        self.keepsakes.write(self.run.folder)
        self._names = {photo_id(photo.name): photo.name for photo in self.run.given.photos}
        self._publish()

    def found(self) -> Found:
        """What was found, at the latest now."""
        return found_in(self.run)

    def _turn(self, numbers: Sequence[int]) -> int | None:
        if not numbers:
            return None
        self._keep([Undo(number) for number in numbers])
        return numbers[0]

    def _keep(self, whats: Sequence[Correction]) -> int:
        """Put on the disk what is said in one breath; its first number."""
        numbers = self.run.correct_together(whats, BY)
        self._touched |= self._places_of(numbers)
        self._stale = self._stale or self.run.found is not None
        self._publish()
        return numbers[0]

    def _places_of(self, numbers: Sequence[int]) -> set[Place]:
        """The photos and the things that corrections are about, or those that they undo."""
        said, places = {one.number: one.what for one in self.run.journal.said()}, set()
        for number in numbers:
            what = said[number]
            while isinstance(what, Undo):
                what = said[what.undoes]
            places.add((what.photo, what.label))
        return places

    def _can_learn(self) -> bool:
        known = self.run.known()
        try:
            shared_tags(known.tags, known.regions)
        except InputError:
            return False
        return True

    def _go_on(self) -> bool:
        """Look at photos and for things, until somebody asks for something; whether there is more to do."""
        if not self._stale:
            return False
        before, self.trouble = self.run.found, ""
        try:
            if len(self.run.sizes()) + len(self.run.unreadable) < len(self.run.given.photos):
                self.run.extract(self._listen, skip_bad=True)
            self._watched = self._ids_by_label()
            found = self.run.find(self._listen)
        except Stopped:
            return True
        except (InputError, OSError) as error:
            self.trouble = _words(error)
        except Exception:
            log.exception("the work on %s failed", self.run.folder)
            self.trouble = BUG
        else:
            self._tell_moved(moved_boxes(before, found, self._touched))
        self._stale = False
        self._touched.clear()
        self.progress.end()
        self._publish()
        return False

    def _ids_by_label(self) -> dict[str, list[str]]:
        """The photos of each thing that were looked at, in the order in which a class has them."""
        sizes, ids = self.run.sizes(), defaultdict(list)
        for name, labels in self.run.known().tags.items():
            for label in labels if name in sizes else ():
                ids[label].append(photo_id(name))
        return ids

    def _listen(self, event: Event) -> None:
        if self._worker.wanted:
            raise Stopped
        self.progress.hear(event, self._watched)

    def _tell_moved(self, places: Sequence[Place]) -> None:
        moved = [{"photo": photo_id(photo), "label": label} for photo, label in places]
        self.events.tell("solved", {"moved": moved})

    def _publish(self) -> None:
        view = self._view()
        labels = labels_of(view)
        if set(labels) - set(self.keepsakes.colours):
            self.keepsakes = self.keepsakes.with_colours_of(labels)
            self.keepsakes.write(self.run.folder)
            view = view._replace(keepsakes=self.keepsakes)
        self.history = history_of(view.said)
        self.snapshot = self.snapshot.next(view)
        self.busy = self._stale
        self.events.tell("state", {"number": self.snapshot.number})

    def _view(self) -> View:
        run, said = self.run, self.run.journal.said()
        return View(run.given.photos, run.known(), said, run.found, run.sizes(), run.unreadable, self.keepsakes)

    def about(self) -> dict[str, Any]:
        """Everything of the state but the photos."""
        snapshot = self.snapshot
        return {
            "studio": self.events.name,
            "mark": self.events.mark,
            "number": snapshot.number,
            "title": self.run.given.folder.name if not self.may_add else self.run.folder.resolve().name,
            "may_add": self.may_add,
            "busy": self.busy,
            "progress": self.progress.now,
            "trouble": self.trouble,
            "undo": bool(self.history.undo),
            "redo": bool(self.history.redo),
            "counts": dict(snapshot.counts),
            "classes": list(snapshot.classes),
        }


def _words(error: InputError | OSError) -> str:
    """What is wrong and what to do, for the page."""
    if isinstance(error, InputError):
        return f"{error.wrong} {error.remedy}"
    return f"The disk refuses: {error.strerror or error}. Make room, and press Find again."
