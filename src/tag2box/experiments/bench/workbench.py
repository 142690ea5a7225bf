"""Where experiments are made: images of a data folder, by name; features of a store folder; one extractor."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import final

from tag2box.data import Dataset, DatasetImage, held_out_classes, load_split, read_dataset
from tag2box.errors import PhotoError, SpecificationError
from tag2box.experiments.bench.results import Row, RowResult, load_result, rows_of
from tag2box.experiments.bench.schooling import (
    SCHOOLING_NAME,
    load_schooling,
    save_schooling,
    schooling_facts,
    schooling_hash,
)
from tag2box.experiments.bench.sources import (
    BASE,
    HELD_OUT,
    PRACTICAL,
    SAME_SCENE,
    SOURCES,
    SPLIT,
    annotation_file,
    annotations_hash,
    classes_named,
    hash_of,
    of_data_folder,
)
from tag2box.experiments.bench.specification import Specification
from tag2box.experiments.bench.tasks import Pool
from tag2box.experiments.composed import BOXES_NAME, compose, of_round, plan_same_scene
from tag2box.extract import Card, PhotoFile, extract_photos, model_folder, open_extractor, read_card
from tag2box.methods.knowledge import Knowledge
from tag2box.methods.lineup import LINEUP
from tag2box.model import (
    KNOWLEDGE_NAME,
    SETTINGS_NAME,
    Settings,
    knowledge_hash,
    load_knowledge,
    load_settings,
    save_knowledge,
)
from tag2box.progress import Progress, Report
from tag2box.store import FeatureStore, room_for_bags
from tag2box.training import fit_knowledge
from tag2box.training.kinship import KINSHIP


@final
@dataclass(frozen=True)
class Workbench:
    """Paths only, so that it can be handed to another process."""

    data: Path
    store: Path
    model: Path | None = None

    @cached_property
    def card(self) -> Card:
        """Of the extractor."""
        return read_card(self._model_folder)

    def settings(self, file: Path | None = None) -> Settings:
        """The settings of a file, or those that came with the model."""
        return load_settings(file if file is not None else self._model_folder / SETTINGS_NAME)

    @property
    def folder(self) -> Path:
        """Of everything that belongs to the extractor."""
        return self.store / self.card.fingerprint

    @property
    def results(self) -> Path:
        """Folder of the results."""
        return self.store / "results"

    @property
    def same_scene(self) -> Path:
        """Folder of the composed photos, which depend on the base photos and on no extractor."""
        return self.store / f"same-scene-{annotations_hash(self.data, BASE)[:12]}"

    @property
    def knowledge_hash(self) -> str:
        """Of what was fitted on base regions; empty if nothing is yet."""
        path = self._knowledge_file
        return knowledge_hash(load_knowledge(path)) if path.exists() else ""

    @property
    def schooling_hash(self) -> str:
        """Of what rivals have learned; empty if they have not yet."""
        return schooling_hash(load_schooling(self._schooling_file)) if self._schooling_file.exists() else ""

    @property
    def like_users(self) -> tuple[tuple[str, ...], ...]:
        """Sets of datasets on which what users get is chosen, each of which counts alike.

        Held-out kinds of classes as they are, the same composed into one scene and, where the data folder has them,
        photos that people took of their own things.
        """
        taken = tuple(name for name in PRACTICAL if annotation_file(self.data, name).exists())
        return ((HELD_OUT,), SAME_SCENE, *((taken,) if taken else ()))

    def load(self, name: str) -> Dataset:
        """The images of a dataset with the objects that count; the others are as if unlabelled."""
        if name in SAME_SCENE:
            return of_round(read_dataset(self.same_scene / BOXES_NAME), SAME_SCENE.index(name) + 1)
        return of_data_folder(self.data, name)

    def pool(self, name: str, processes: int = 1) -> Pool:
        """The bags and truths of a dataset that has been extracted, for one of so many processes.

        Tasks ask for the same photos again and again: what methods make of a photo is worth more than reading it.
        """
        return Pool.of(FeatureStore(self._store_of(name), room=room_for_bags(processes)), self.load(name))

    def missing(self, name: str) -> list[DatasetImage]:
        """Images of a dataset that tasks can use and whose features are not in the store yet."""
        images = self._base_images() if name == BASE else [image for image in self.load(name).images if image.tags]
        folder = self._store_of(name)
        if not folder.exists():
            return list(images)
        known = FeatureStore(folder)
        return [image for image in images if image.image_id not in known]

    def extract(self, name: str, images: list[DatasetImage], report: Report) -> None:
        """Put the features of the images into the store; a photo that cannot be read ends it by name."""
        folder = self._store_of(name)
        folder.parent.mkdir(parents=True, exist_ok=True)
        photos = [PhotoFile(image.image_id, image.path) for image in images]
        outcome = extract_photos(open_extractor(self.model, threads=1), photos, folder, report)
        if outcome.unreadable:
            first = next(iter(outcome.unreadable.values()))
            raise PhotoError(
                f"{len(outcome.unreadable)} photos of {name} cannot be read; the first: {first.wrong}",
                "the photos that the annotations name",
                "repair the data folder and run the same command again: what is done stays.",
            )

    def extract_missing(self, name: str, progress: Progress) -> None:
        """Put those features into the store, with progress."""
        images = self.missing(name)
        if images:
            with progress(f"Extracting {name}", len(images)) as report:
                self.extract(name, images, report)

    def prepare(self, name: str, progress: Progress) -> None:
        """Make what experiments on a dataset need: its features, and what methods know of base regions."""
        if name in SAME_SCENE and not self.same_scene.exists():
            base = read_dataset(annotation_file(self.data, BASE))
            plans = plan_same_scene(base, held_out_classes(load_split(SPLIT).base))
            with progress("Composing photos that share a scene", len(plans)) as report:
                compose(plans, self.same_scene, report)
        self.extract_missing(name, progress)
        if not self._knowledge_file.exists():
            self.fit_knowledge(progress)

    def rows(self, asked: Specification, settings: Path | None = None) -> list[Row]:
        """The rows of a table, with the settings of a file or those that came with the extractor."""
        chosen = self.settings(settings).all_of(asked.methods)
        common, schooled = self.knowledge_hash, self.schooling_hash
        known = {name: common + schooled if LINEUP[name].schooled else common for name in asked.methods}
        return rows_of(asked, chosen, self.card.fingerprint, self._annotations_hash(asked.dataset), known)

    def kept_results(self, rows: Sequence[Row]) -> dict[Row, RowResult]:
        """The results of those rows that have one."""
        return {row: load_result(row.file(self.results)) for row in rows if row.file(self.results).exists()}

    def fit_knowledge(self, progress: Progress) -> Knowledge:
        """What methods know of base regions, fitted on base photos and kept in the store."""
        labelled, store = self._base_photos(progress)
        with progress("Learning what base regions look like", KINSHIP.steps) as report:
            known = fit_knowledge([store], [labelled], self.trained_classes, report=report)
        save_knowledge(self._fitted_file, known)
        return known

    def knowledge(self) -> Knowledge:
        """What methods know of base regions: the model's own, or what was fitted where it has none yet."""
        schooling = load_schooling(self._schooling_file) if self._schooling_file.exists() else None
        return replace(load_knowledge(self._knowledge_file), schooling=schooling)

    def school_rivals(self, methods: Collection[str], progress: Progress) -> None:
        """Train the networks of rivals, if one of the methods has some and they are not there, or by another recipe."""
        if not any(LINEUP[name].schooled for name in methods):
            return
        from tag2box.training.rivals.schooling import recipes, train_rivals

        facts = {"extractor": self.card.fingerprint, "photos": annotations_hash(self.data, BASE), **recipes()}
        if schooling_facts(self._schooling_file) == facts:
            return
        labelled, store = self._base_photos(progress)
        learned = train_rivals(store, labelled, self.trained_classes, progress)
        save_schooling(self._schooling_file, learned, facts)

    def _base_photos(self, progress: Progress) -> tuple[Dataset, FeatureStore]:
        """Base photos with all that is labelled in them, and their features."""
        self.extract_missing(BASE, progress)
        return read_dataset(annotation_file(self.data, BASE)), FeatureStore(self._store_of(BASE))

    @property
    def _knowledge_file(self) -> Path:
        own = self._model_folder / KNOWLEDGE_NAME
        return own if own.exists() else self._fitted_file

    @property
    def _fitted_file(self) -> Path:
        return self.folder / KNOWLEDGE_NAME

    @property
    def _schooling_file(self) -> Path:
        return self.folder / SCHOOLING_NAME

    @property
    def _model_folder(self) -> Path:
        return model_folder(self.model)

    def _annotations_hash(self, name: str) -> str:
        return hash_of(self.load(name)) if name in SAME_SCENE else annotations_hash(self.data, name)

    def _store_of(self, name: str) -> Path:
        return self.folder / name.replace(" ", "-")

    def _base_images(self) -> list[DatasetImage]:
        """Photos that show trained classes, and none that tasks on photos of this file can ask the model for."""
        labelled, trained = read_dataset(annotation_file(self.data, BASE)), set(self.trained_classes)
        same_file = [source for source in SOURCES.values() if source.file == SOURCES[BASE].file]
        asked = [set(classes_named(source.classes, labelled, source.split)) for source in same_file]
        unseen = {label for classes in asked if not classes & trained for label in classes}
        return [image for image in labelled.without(unseen).images if image.tags & trained]

    @property
    def trained_classes(self) -> tuple[str, ...]:
        """Base classes that the extractor has learned: in a run with held-out classes, those are as good as novel."""
        return tuple(self.card.trained_on.get("classes", load_split(SPLIT).base))


def bench_for(asked: Specification, data: Path, store: Path, models: Sequence[Path]) -> Workbench:
    """With the first of the models, or the one that ships, that has learned none of the classes of a table."""
    bench = bench_if_any(asked, data, store, models)
    if bench is not None:
        return bench
    first = _benches(data, store, models)[0]
    learned = sorted(set(first.load(asked.dataset).classes) & set(first.trained_classes))
    raise SpecificationError(
        f"{asked.title!r} asks for {learned[0]!r}, which every model has learned.",
        f"a model that never saw boxes of the classes of {asked.dataset}",
        "train one with tag2box train --split, and give it with --model.",
    )


def bench_if_any(asked: Specification, data: Path, store: Path, models: Sequence[Path]) -> Workbench | None:
    """The same; None where every model has learned some of the classes."""
    benches = _benches(data, store, models)
    classes = set(benches[0].load(asked.dataset).classes)
    return next((bench for bench in benches if not classes & set(bench.trained_classes)), None)


def _benches(data: Path, store: Path, models: Sequence[Path]) -> list[Workbench]:
    return [Workbench(data, store, model) for model in models] or [Workbench(data, store)]
