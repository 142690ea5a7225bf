"""Which machines a run works on: this one, or those of a cluster that see photos and folder by the same names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, final

from tag2box.cluster import connected, extract_on_cluster, work_on_cluster
from tag2box.data.photo_files import PhotoFile
from tag2box.extract import BatchOutcome, extract_photos
from tag2box.model import Model
from tag2box.product.events import Advanced, Began, Ended, Listener
from tag2box.product.finding import Teach
from tag2box.product.learning import LearnedClass, Lesson, learn_class
from tag2box.store import FeatureStore


@final
@dataclass(frozen=True)
class Machines:
    """Where photos are looked at and classes are learned; what comes out is the same."""

    cluster: str | None = None
    """Its address, or local; None for this process"""

    def connected(self) -> AbstractContextManager[Any]:
        """The cluster, for several things that are done on it one after the other."""
        return nullcontext() if self.cluster is None else connected(self.cluster)

    def look(self, model: Model, photos: Sequence[PhotoFile], folder: Path, listen: Listener) -> BatchOutcome:
        """Put the regions of photos into a store, and tell how far it is."""

        def advance(done: int, _figures: object) -> None:
            listen(Advanced("extract", done, len(photos)))

        listen(Began("extract", len(photos)))
        if self.cluster is None:
            outcome = extract_photos(model.extractor, photos, folder, advance)
        else:
            outcome = extract_on_cluster(
                self.cluster, photos, folder, advance, model=model.folder, regions=model.regions
            )
        listen(Ended("extract"))
        return outcome

    def teacher(self, model: Model, features: FeatureStore) -> Teach | None:
        """What learns classes on the cluster, each by a task of its own; None if they are learned here."""
        if self.cluster is None:
            return None
        address, at = self.cluster, (features.folder.resolve(), model.folder.resolve(), model.regions)

        def teach(lessons: Sequence[Lesson]) -> Iterator[LearnedClass]:
            jobs = [_Job(lesson, *at) for lesson in lessons]
            for lesson, one in zip(lessons, work_on_cluster(address, learn_by_paths, jobs), strict=True):
                yield replace(one, lesson=lesson)

        return teach


HERE = Machines()


@final
@dataclass(frozen=True)
class _Job:
    """A class to learn somewhere else."""

    lesson: Lesson
    features: Path
    model: Path
    regions: int


def learn_by_paths(job: _Job) -> LearnedClass:
    """What a task does: open the store and the model where it is, and learn the class."""
    return learn_class(job.lesson, _store(job.features), _model(job.model, job.regions))


@lru_cache(maxsize=1)
def _store(folder: Path) -> FeatureStore:
    """One for each process."""
    return FeatureStore(folder)


@lru_cache(maxsize=1)
def _model(folder: Path, regions: int) -> Model:
    """One for each process."""
    return Model.open(folder, regions=regions, threads=1)
