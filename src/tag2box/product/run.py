"""A run: the one use case. Tagged photos in a folder; regions, boxes, what a person said, classes and a report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, final

from tag2box.boxes import Box, Size, edge_distances
from tag2box.data.dataset import Dataset
from tag2box.data.formats import Written, write_formats
from tag2box.data.formats.coco import BOXES_NAME, read_boxes, write_boxes
from tag2box.data.labelled import LabelledPhoto, LabelledPhotos
from tag2box.data.photo_files import PhotoFile
from tag2box.data.tags import TagSet, clean_tags, shared_tags
from tag2box.errors import PhotoError, RunError
from tag2box.extract import unreadable_photos
from tag2box.files import now
from tag2box.model import DETECTOR, Model
from tag2box.product.class_file import ClassSet
from tag2box.product.corrections import (
    Correction,
    Journal,
    Known,
    Pointed,
    Said,
    Shows,
    Undo,
    replay,
    require_region,
    vouched_for,
)
from tag2box.product.events import Listener, Unreadable, silent
from tag2box.product.finding import ERROR_RATE, Found, find_classes, further_things, need_a_look
from tag2box.product.machines import HERE, Machines
from tag2box.product.places import Places
from tag2box.product.pointing import Pointing
from tag2box.product.report import write_report
from tag2box.product.run_files import (
    CORRECTIONS_NAME,
    DRAWN_NAME,
    FEATURES_NAME,
    REPORT_NAME,
    RunFacts,
    digest_of,
    facts_of,
    lock_run,
    read_facts,
    read_photos,
    require_extractor_of,
    require_usable,
    write_facts,
    write_photos,
)
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import ProposalBag

SAME_EDGE = 0.5
"""Pixels; boxes whose edges are nearer are one."""


class RunState(NamedTuple):
    """Where a run stands, as its files say."""

    photos: int
    extracted: int
    corrections: int
    boxes: Literal["none", "stale", "fresh"]
    """Stale if tags, corrections, settings or photos are others than those the boxes were made from"""


@final
class Run:
    """The folder of a run; use it in a ``with`` block. One process writes at a time, and one thread in it."""

    def __init__(self, folder: Path, given: TagSet, model: Model, lock: int, machines: Machines = HERE) -> None:
        """For ``begin`` and ``open``."""
        self.folder, self.given, self.model, self.machines = folder, given, model, machines
        self.unreadable: Mapping[str, PhotoError] = {}
        self.found: Found | None = None
        self.journal = Journal(folder / CORRECTIONS_NAME)
        self._lock: int | None = lock
        self._store: FeatureStore | None = None
        self._pointing = Pointing(self._described)

    @classmethod
    def begin(cls, folder: Path, given: TagSet, model: Model, machines: Machines = HERE) -> Self:
        """A new run, or one on the same photos with the same model, which goes on; tags may be others than before."""
        require_usable(folder)
        known = replay({photo.name: photo.tags for photo in given.photos}, Journal(folder / CORRECTIONS_NAME).said())
        shared_tags(known.tags, known.regions)  # if nothing can be learned, then that is said before any work
        given = replace(given, folder=given.folder.resolve())
        lock = lock_run(folder)
        try:
            facts = facts_of(folder, given.folder, model.fingerprint)
            write_facts(folder, facts)
            write_photos(folder, given)
        except BaseException:
            os.close(lock)
            raise
        return cls(folder, given, model, lock, machines)

    @classmethod
    def open(cls, folder: Path, model: Model | None = None) -> Self:
        """A run by its own files; the model must be the one that it was made with."""
        facts = read_facts(folder)
        used = model if model is not None else Model.open(threads=1)
        require_extractor_of(folder, facts, used.fingerprint)
        return cls(folder, read_photos(folder, facts.photos), used, lock_run(folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let others write."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def extract(self, listen: Listener = silent, *, skip_bad: bool = False) -> None:
        """Look at all photos; what an earlier run has done is not done again.

        If a photo cannot be read, that is said when all others are done; with ``skip_bad`` it is left out.
        """
        photos = [PhotoFile(photo.name, photo.path) for photo in self.given.photos]
        self._store = None
        outcome = self.machines.look(self.model, photos, self.folder / FEATURES_NAME, listen)
        self.unreadable = outcome.unreadable
        for error in self.unreadable.values():
            listen(Unreadable(error))
        if self.unreadable and not skip_bad:
            raise unreadable_photos(self.unreadable.values(), len(photos))

    def correct(self, what: Correction, by: str = "") -> int:
        """Keep what a person says; it is on the disk when this returns. The number is for ``Undo``."""
        return self.correct_together([what], by)[0]

    def correct_together(self, whats: Sequence[Correction], by: str = "") -> list[int]:
        """Keep what a person says in one breath, and will take back in one, if at all."""
        self._require_numbers([what.undoes for what in whats if isinstance(what, Undo)])
        self._require_photos([what.photo for what in whats if not isinstance(what, Undo)])
        return self.journal.add_together([self._clean(what) for what in whats], now(), by)

    def take_over(self, said: Sequence[Said]) -> None:
        """Keep what was said elsewhere about these photos; what is kept already is not kept twice."""
        self.journal.take_over([one._replace(what=self._clean(one.what)) for one in said])

    def trust(self, truth: Dataset, by: str) -> int:
        """Keep the boxes that annotations have for these photos and their tags as right ones; how many there are."""
        said = vouched_for(truth, self.sizes(), self.known().tags, by)
        self.take_over(said)
        return len(said)

    def sizes(self) -> dict[str, Size]:
        """Height and width of each photo that was looked at."""
        if not (self.folder / FEATURES_NAME).is_dir():
            return {}
        features = self._features()
        return {photo.name: features.size(photo.name) for photo in self.given.photos if photo.name in features}

    def row_at(self, photo: str, box: Box) -> int | None:
        """The region of a photo that has this very box."""
        distances = edge_distances(self._features().bag(photo).boxes, box)  # (n,)
        return int(distances.argmin()) if distances.min() < SAME_EDGE else None

    def places(self, photo: str, label: str) -> Places:
        """Where a thing may be in a photo that was looked at."""
        learned = self.found.of(label) if self.found is not None else None
        return Places.of(self._features().lean_bag(photo), learned, self.model)

    def known(self) -> Known:
        """What is in which photo, after everything that a person said."""
        return replay({photo.name: photo.tags for photo in self.given.photos}, self.journal.said())

    def find(self, listen: Listener = silent) -> Found:
        """Find every thing in the photos that show it; classes that did not change are kept, and nothing is written."""
        known, features = self.known(), self._features()
        regions = self._pointing.regions(known, features)
        teach = self.machines.teacher(self.model, features)
        with self.machines.connected():
            self.found = find_classes(
                known.tags, features, self.model, listen, regions=regions, before=self.found, teach=teach
            )
        return self.found

    def localize(
        self, listen: Listener = silent, *, all_instances: bool = False, error_rate: float = ERROR_RATE
    ) -> Found:
        """Find every thing in the photos that show it, and write the boxes."""
        found, known, features = self.find(listen), self.known(), self._features()
        boxes = further_things(found, features, self.model) if all_instances else found.boxes()
        photos = tuple(
            LabelledPhoto(name, *features.size(name), tuple(some), tuple(sorted(known.tags[name])))
            for name, some in boxes.items()
        )
        labelled = LabelledPhotos(self.given.folder, found.classes, photos)
        write_boxes(self.folder / BOXES_NAME, labelled, {"extractor": self.model.fingerprint})
        how: dict[str, Any] = {
            "tags": self.given.source,
            "method": DETECTOR,
            "settings": dict(self.model.settings.of(DETECTOR)),
        }
        how["verdicts"] = {label: asdict(verdict) for label, verdict in found.verdicts().items()}
        how |= {"error_rate": error_rate, "all_instances": all_instances, "made_from": self._made_from(known, features)}
        write_facts(self.folder, RunFacts(self.given.folder, self.model.fingerprint, how))
        return found

    def learn(self) -> ClassSet:
        """The classes that were found, as a class file keeps them."""
        found = self.found if self.found is not None else self.find()
        return found.known(self.model.fingerprint, now())

    def report(self, listen: Listener = silent) -> Path:
        """Write the page with every photo, the most doubtful first; stale boxes are made anew, in the way they were."""
        how = read_facts(self.folder).further
        error_rate = float(how.get("error_rate", ERROR_RATE))
        if self.state.boxes != "fresh":
            self.localize(listen, all_instances=bool(how.get("all_instances")), error_rate=error_rate)
        found = self.found if self.found is not None else self.find(listen)
        path, look = self.folder / REPORT_NAME, need_a_look(found.by_doubt(), error_rate)
        paths = {photo.name: photo.path for photo in self.given.photos}
        write_report(path, found, self.labelled(), paths, look, listen)
        return path

    def labelled(self) -> LabelledPhotos:
        """The boxes that were written last."""
        return read_boxes(self.folder)

    def export(self, formats: Sequence[str], output: Path, max_doubt: float | None = None) -> Written:
        """Write photos and boxes for other tools."""
        return write_formats(self.labelled(), formats, output, max_doubt)

    @property
    def state(self) -> RunState:
        """Where the run stands."""
        said, known = self.journal.said(), self.known()
        has_features = (self.folder / FEATURES_NAME).is_dir()
        extracted = len(self._features()) if has_features else 0
        if not (self.folder / BOXES_NAME).is_file() or not has_features:
            return RunState(len(self.given.photos), extracted, len(said), "none")
        fresh = read_facts(self.folder).further.get("made_from") == self._made_from(known, self._features())
        return RunState(len(self.given.photos), extracted, len(said), "fresh" if fresh else "stale")

    def _features(self) -> FeatureStore:
        """The regions of the photos; the store is opened once, because only ``extract`` changes it."""
        if self._store is None:
            self._store = FeatureStore(self.folder / FEATURES_NAME, self._header)
        return self._store

    @property
    def _header(self) -> StoreHeader:
        return StoreHeader(self.model.fingerprint, self.model.card.dimension)

    def _made_from(self, known: Known, features: FeatureStore) -> str:
        pointed = {label: {photo: list(at) for photo, at in places.items()} for label, places in known.regions.items()}
        tags = {photo: sorted(words) for photo, words in known.tags.items()}
        settings = dict(self.model.settings.of(DETECTOR))
        return digest_of(self.model.fingerprint, settings, tags, pointed, features.image_ids)

    def _described(self, photo: str, pointed: Pointed) -> ProposalBag:
        """What the extractor makes of a box that was drawn, kept on the disk for next time."""
        name = str(pointed.number)
        with StoreWriter(self.folder / DRAWN_NAME, self._header) as writer:
            if name not in writer:
                path = next(each.path for each in self.given.photos if each.name == photo)
                described = self.model.extractor.describe_boxes(path, name, [pointed.box])
                writer.append(described.bag, described.source_hash)
        return FeatureStore(self.folder / DRAWN_NAME).bag(name)

    def _clean(self, what: Correction) -> Correction:
        """The correction with a lawful tag; a region that is none of its photo is refused."""
        if isinstance(what, Undo):
            return what
        (label,) = clean_tags([what.label], "a correction")
        if isinstance(what, Shows) and what.photo in self._features():
            require_region(what, self._features())
        return what._replace(label=label)

    def _require_numbers(self, wanted: Sequence[int]) -> None:
        numbers = [one.number for one in self.journal.said()] if wanted else []
        for number in wanted:
            if number not in numbers:
                expected = f"one of 1 to {len(numbers)}"
                raise RunError(f"there is no correction {number}.", expected, "give another number.")

    def _require_photos(self, wanted: Sequence[str]) -> None:
        photos = {photo.name for photo in self.given.photos}
        for name in wanted:
            if name not in photos:
                raise RunError(
                    f"the run on {self.given.folder} has no photo {name!r}.", "a photo of the run", "check the name."
                )
