"""Networks of rivals: as they are used they are what they were when they learned, and they learn a planted world."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from samples import unit
from tag2box.data import Dataset, DatasetImage
from tag2box.evaluation import is_correct
from tag2box.methods.rivals import CommonRegions, Lsda, Silco
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.training.rivals.lessons import LabelledRegions
from tag2box.training.rivals.lsda import fit_base_classifiers
from tag2box.training.rivals.relations import Relation, RelationRecipe, focal_loss, train_relations
from tag2box.training.rivals.silco import SilcoModules, SilcoRecipe, hard_loss, train_silco
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


def some_features(*shape: int) -> torch.Tensor:
    rng = np.random.default_rng(0)
    return torch.from_numpy(unit(rng.standard_normal(shape)).astype(np.float32))


def test_the_relation_network_as_it_is_used_is_the_one_that_learned() -> None:
    torch.manual_seed(0)
    network = Relation(6, 5)
    first, second = some_features(8, 4, 6), some_features(8, 4, 6).flip(0)
    for _ in range(3):
        network(first, second)  # normalizations learn what they see
    network.eval()
    used = network.folded()
    table = used.table(used.projected(first[0].numpy()), used.projected(second[0].numpy()))
    np.testing.assert_allclose(table, network(first, second)[0].detach(), rtol=1e-4, atol=1e-5)


def test_silco_as_it_is_used_is_the_one_that_learned() -> None:
    torch.manual_seed(0)
    network = SilcoModules(6, SilcoRecipe(size=4, grows=3, layers=3, heed=(5, 4)))
    torch.nn.init.normal_(network.back.weight)
    query, supports = some_features(2, 7, 6), some_features(2, 3, 5, 6)
    for _ in range(3):
        network(query, supports)
    network.eval()
    used = network.kept()
    seen = [used.enter(each.numpy()) for each in supports[0]]
    scores = used.score(used.enter(query[0].numpy()), seen, used.weigh(np.stack([each.mean(axis=0) for each in seen])))
    np.testing.assert_allclose(scores, network(query, supports)[0].detach(), rtol=1e-3, atol=1e-4)


def test_pairs_that_are_understood_hardly_count() -> None:
    alike = torch.tensor([1.0])
    entropies = [float(focal_loss(torch.tensor([odds]), alike)) for odds in (-3.0, 0.0, 3.0)]
    plain = np.log1p(np.exp([3.0, 0.0, -3.0]))
    chances = np.exp(-plain)
    np.testing.assert_allclose(entropies, (1 - chances) ** 2 * plain, rtol=1e-5)


def test_of_what_is_not_the_class_the_hardest_count() -> None:
    odds, shows = torch.tensor([[0.0, 5.0, 4.0, 3.0, -5.0, -6.0]]), torch.tensor([[1.0, 0, 0, 0, 0, 0]])
    expected = np.log(2) + np.log1p(np.exp([5.0, 4.0, 3.0])).sum()
    assert float(hard_loss(odds, shows)) == pytest.approx(expected, rel=1e-5)


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
    recipe = SilcoRecipe(size=32, grows=8, layers=2, heed=(16,), steps=400, support_regions=40)
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
