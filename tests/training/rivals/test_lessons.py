"""What rivals learn from: labels of regions, and which of them are drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, DatasetImage
from tag2box.errors import NoImagesOfClassError
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.training.rivals.lessons import NOTHING, LabelledRegions
from tag2box.worlds import PlantedImage, World, plant_image

WORLD = World(distractors=(0, 0))
BASE, NOVEL = WORLD.names[:3], WORLD.names[6:]


@pytest.fixture(scope="module")
def images() -> list[PlantedImage]:
    """Every third shows a novel object too."""
    rng = np.random.default_rng(0)
    tags = [[BASE[n % 3], NOVEL[0]] if n % 3 == 0 else [BASE[n % 3], BASE[(n + 1) % 3]] for n in range(9)]
    return [plant_image(WORLD, str(n), labels, rng) for n, labels in enumerate(tags)]


@pytest.fixture(scope="module")
def regions(images: list[PlantedImage], tmp_path_factory: pytest.TempPathFactory) -> LabelledRegions:
    folder = tmp_path_factory.mktemp("store")
    with StoreWriter(folder, StoreHeader("planted", WORLD.dimension)) as writer:
        for image in images:
            writer.append(image.bag)
    return LabelledRegions.of(FeatureStore(folder), dataset(images), BASE)


def dataset(images: list[PlantedImage]) -> Dataset:
    return Dataset(WORLD.names, tuple(DatasetImage(Path("x"), 240, 320, image.truth) for image in images))


def test_regions_have_the_class_that_they_are_on(images: list[PlantedImage], regions: LabelledRegions) -> None:
    clean = [image for image in images if not set(image.truth.labels.tolist()) & set(NOVEL)]
    assert len(regions) == len(clean) == 6
    for image, labels in zip(clean, regions.labels, strict=True):
        overlaps = box_overlaps(image.bag.boxes, image.truth.boxes)
        on = overlaps.max(axis=1) >= 0.5
        names = image.truth.labels[overlaps.argmax(axis=1)]
        assert [regions.classes[label] for label in labels[on]] == names[on].tolist()
        assert set(labels[~on].tolist()) == {NOTHING}


def test_classes_that_two_photos_show_can_be_compared(regions: LabelledRegions) -> None:
    assert {label: photos.tolist() for label, photos in regions.photos_of.items()} == {
        0: [1, 3, 5],
        1: [0, 2, 4],
        2: [0, 1, 2, 3, 4, 5],
    }


def test_draws_have_so_many_of_each_kind(regions: LabelledRegions) -> None:
    rng = np.random.default_rng(0)
    wanted, other = sorted(regions.tags[0])
    features, labels = regions.draw(0, wanted, (2, 1, 3), rng)
    assert labels.tolist() == [wanted, wanted, other, NOTHING, NOTHING, NOTHING]
    rows = {tuple(row): label for row, label in zip(regions.features[0].tolist(), regions.labels[0], strict=True)}
    assert [rows[tuple(row)] for row in features.tolist()] == labels.tolist()
    stranger = next(label for label in range(3) if label not in regions.tags[0])
    assert len(regions.draw(0, stranger, (2, 1, 3), rng)[1]) == 6  # any regions take their place


def test_a_store_of_other_photos_is_refused(tmp_path: Path, images: list[PlantedImage]) -> None:
    with StoreWriter(tmp_path, StoreHeader("planted", WORLD.dimension)):
        pass
    with pytest.raises(NoImagesOfClassError, match="shows base objects only"):
        LabelledRegions.of(FeatureStore(tmp_path), dataset(images), BASE)
