"""Where experiments are made: photos of a data folder, features of a store folder, one extractor."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import final

from tag2box.data import Dataset, DatasetImage, Draws, load_split, read_dataset
from tag2box.errors import PhotoError
from tag2box.experiments.bench.sources import SPLIT, annotation_file, load_source
from tag2box.experiments.bench.trials import Pool
from tag2box.extract import Card, PhotoFile, extract_photos, model_folder, open_extractor, read_card
from tag2box.methods.lineup import SETTINGS_NAME, Ingredients, load_ingredients, save_ingredients
from tag2box.progress import Report
from tag2box.store import FeatureStore
from tag2box.training import fit_ingredients
from tag2box.training.objectness import clean_images

INGREDIENTS_NAME = "ingredients-2.safetensors"
BASE, HELD_OUT = "coco60 base", "coco60 held-out"
BASE_PHOTOS = 800
"""Photos without novel objects that backgrounds are fitted on."""


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

    @property
    def settings(self) -> Path:
        """The file of settings that came with the extractor."""
        return self._model_folder / SETTINGS_NAME

    @property
    def folder(self) -> Path:
        """Of everything that belongs to the extractor."""
        return self.store / self.card.fingerprint

    @property
    def results(self) -> Path:
        """Folder of the results."""
        return self.store / "results"

    @property
    def knowledge_hash(self) -> str:
        """Of the file with what was fitted on base regions; empty if there is none yet."""
        path = self.folder / INGREDIENTS_NAME
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""

    def pool(self, dataset: Dataset, name: str) -> Pool:
        """The bags and truths of a dataset that has been extracted."""
        return Pool.of(FeatureStore(self._store_of(name)), dataset)

    def missing(self, name: str) -> list[DatasetImage]:
        """Images of a dataset that tasks can use and whose features are not in the store yet."""
        images = self._base_images() if name == BASE else [i for i in load_source(self.data, name).images if i.tags]
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
            raise PhotoError(
                f"{len(outcome.unreadable)} photos of {name} cannot be read; the first: {outcome.unreadable[0].wrong}",
                "the photos that the annotations name",
                "repair the data folder and run the same command again: what is done stays.",
            )

    def ingredients(self) -> Ingredients:
        """What the lineup's methods know of base regions; fitted once for each extractor."""
        path = self.folder / INGREDIENTS_NAME
        if not path.exists():
            labelled = read_dataset(annotation_file(self.data, BASE))
            fitted = fit_ingredients(FeatureStore(self._store_of(BASE)), [labelled], self._trained_classes())
            save_ingredients(path, fitted)
        return load_ingredients(path)

    @property
    def _model_folder(self) -> Path:
        return model_folder(self.model)

    def _store_of(self, name: str) -> Path:
        return self.folder / name.replace(" ", "-")

    def _base_images(self) -> list[DatasetImage]:
        """Photos that show trained base classes and nothing else that is labelled, in an order of their own."""
        images = clean_images([read_dataset(annotation_file(self.data, BASE))], self._trained_classes())
        return Draws("base photos").sample(images, min(BASE_PHOTOS, len(images)))

    def _trained_classes(self) -> tuple[str, ...]:
        """Base classes that the extractor has learned: in a run with held-out classes, those are as good as novel."""
        trained = self.card.trained_on.get("classes", load_split(SPLIT).base)
        return tuple(label for label in load_split(SPLIT).base if label in trained)
