"""Networks of rivals learn a planted world, and find classes in it that they have not learned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tag2box.data import Dataset, DatasetImage
from tag2box.evaluation import is_correct
from tag2box.methods.rivals import CommonRegions, Lsda, Silco
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.training.rivals.lessons import LabelledRegions
from tag2box.training.rivals.lsda import fit_base_classifiers
from tag2box.training.rivals.relations import RelationRecipe, train_relations
from tag2box.training.rivals.silco import SilcoRecipe, train_silco
from tag2box.worlds import World, plant_image, plant_task

WORLD = World(dimension=32, classes=40, distractors=(0, 1))
BASE = WORLD.names[:30]


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> LabelledRegions:
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("store")
    images = [plant_image(WORLD, str(n), [BASE[n % 30]], rng) for n in range(180)]
    with StoreWriter(folder, StoreHeader("planted", WORLD.dimension)) as writer:
        for image in images:
            writer.append(image.bag)
    labelled = Dataset(WORLD.names, tuple(DatasetImage(Path("x"), 240, 320, image.truth) for image in images))
    return LabelledRegions.of(FeatureStore(folder), labelled.only(BASE), BASE)


def quiet(done: int, figures: object) -> None:
    pass


def hits(learner: CommonRegions | Silco | Lsda) -> float:
    """CorLoc on tasks of classes that nobody has learned."""
    right = []
    for seed in range(16):
        task = plant_task(WORLD, seed, ways=1, shots=5)
        if task.classes[0] in BASE:
            continue
        found = learner.learn([image.bag for image in task.support], [], np.random.default_rng(0))
        right += [
            is_correct(image.bag.boxes[row], image.truth, task.classes[0])
            for image, row in zip(task.support, found.localization.rows, strict=True)
        ]
    assert len(right) >= 15
    return float(np.mean(right))


def test_relations_that_are_learned_find_classes_that_are_new(regions: LabelledRegions) -> None:
    recipe = RelationRecipe(size=32, steps=600)
    trained = train_relations(regions, recipe, quiet)
    untrained = train_relations(regions, replace(recipe, steps=1), quiet)
    assert hits(CommonRegions(trained)) > 0.4 > 2 * hits(CommonRegions(untrained))


def test_the_same_seed_trains_the_same_networks(regions: LabelledRegions) -> None:
    first, second = (train_relations(regions, RelationRecipe(size=8, steps=5), quiet) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)


def test_silco_finds_classes_that_are_new(regions: LabelledRegions) -> None:
    recipe = SilcoRecipe(size=32, grows=8, layers=2, heed=(16,), steps=200, support_regions=40)
    losses = []
    trained = train_silco(regions, recipe, lambda done, figures: losses.append(figures["loss"]))
    assert np.mean(losses[-5:]) < 0.7 * np.mean(losses[:3])
    assert hits(Silco(trained)) > 0.3


def test_lsda_tells_base_classes_apart(regions: LabelledRegions) -> None:
    base = fit_base_classifiers(regions)
    np.testing.assert_allclose(np.linalg.norm(base.images, axis=1), 1.0, rtol=1e-5)
    rows, labels = np.concatenate(regions.features), np.concatenate(regions.labels)
    for place, label in enumerate(regions.photos_of):
        scores = rows @ base.regions[place]
        assert scores[labels == label].mean() > scores[labels != label].mean() + 3 * scores.std() / 2
