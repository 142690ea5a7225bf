"""On planted worlds the method works and its ablations fail, as in the paper's tables."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from samples import paper_method
from tag2box.evaluation import is_correct
from tag2box.methods.localizers import (
    GaussianMil,
    MixtureBackground,
    NoBackground,
    VmfMil,
    fit_gaussian_background,
    random_regions,
)
from tag2box.methods.view import raw_features, tukey_features
from tag2box.sphere import KAPPA_RULES, fit_vmf_mixture
from tag2box.worlds import PlantedTask, World, plant_background, plant_task

TASKS = 100
WORLD = World()


@cache
def tasks(world: World = WORLD) -> tuple[PlantedTask, ...]:
    return tuple(plant_task(world, seed) for seed in range(TASKS))


def corloc(model: VmfMil | GaussianMil, world: World = WORLD) -> tuple[float, float]:
    """Share of right boxes on support and on query images."""
    support, queries = [], []
    for seed, task in enumerate(tasks(world)):
        label = task.classes[0]
        solution = model.solve([image.bag for image in task.support], np.random.default_rng(seed))
        for image, row in zip(task.support, solution.localization.rows, strict=True):
            support.append(is_correct(image.bag.boxes[row], image.truth, label))
        for image in task.queries:
            best = int(solution.score(image.bag).argmax())
            queries.append(is_correct(image.bag.boxes[best], image.truth, label))
    return float(np.mean(support)), float(np.mean(queries))


@pytest.fixture(scope="module")
def full() -> VmfMil:
    return paper_method(WORLD)


def test_the_method_finds_more_than_95_percent(full: VmfMil) -> None:
    support, queries = corloc(full)
    assert support > 0.95
    assert queries > 0.95


def test_without_a_background_it_collapses(full: VmfMil) -> None:
    """Ablation #1: the whole image, where EM starts, is common to all images."""
    support, queries = corloc(replace(full, background=NoBackground()))
    assert support < 0.05
    assert queries < 0.05


def test_em_is_better_than_its_start(full: VmfMil) -> None:
    """Ablation #3."""
    assert corloc(full)[0] > corloc(replace(full, max_steps=0))[0] + 0.1


def test_a_random_start_is_worse(full: VmfMil) -> None:
    """Ablation #4."""
    assert corloc(full)[0] > corloc(replace(full, start=random_regions))[0] + 0.3


def test_a_gaussian_on_raw_features_is_worse(full: VmfMil) -> None:
    """Ablation #6: the length of a feature says little about the class."""
    assert full.kappa is not None
    assert corloc(full)[0] > corloc(GaussianMil(full.kappa**-0.5, full.background))[0] + 0.2


def test_tukey_and_gaussian_work_on_features_after_a_rectifier() -> None:
    """Ablation #7, with a background of its own in the transformed space."""
    world = replace(WORLD, rectified=True)
    base = plant_background(world, 5000) * np.random.default_rng(0).lognormal(0.0, 0.5, size=(5000, 1))
    results = {}
    for name, features, sample in (("tukey", tukey_features, base**0.5), ("gaussian", raw_features, base)):
        background = fit_gaussian_background(sample, features)
        results[name] = corloc(GaussianMil(background.sigma, background, features=features), world)[0]
    assert results["tukey"] > results["gaussian"] + 0.05
    assert results["tukey"] < corloc(paper_method(world), world)[0]


def test_a_mixture_background_works_too(full: VmfMil) -> None:
    mixture = fit_vmf_mixture(plant_background(WORLD, 2000), WORLD.clusters, np.random.default_rng(0)).mixture
    assert corloc(replace(full, background=MixtureBackground(mixture)))[0] > 0.9


def test_order_infinity_is_visibly_worse_than_order_0_with_five_images(full: VmfMil) -> None:
    """The paper's table of rules: five whole images look so alike that the rule freezes EM where it starts."""
    low = corloc(replace(full, kappa=None, kappa_rule=KAPPA_RULES["order-0"]))[0]
    high = corloc(replace(full, kappa=None, kappa_rule=KAPPA_RULES["order-inf"]))[0]
    assert low > 0.9
    assert high < 0.05


def test_from_a_good_constant_all_rules_end_within_a_few_points(full: VmfMil) -> None:
    results = [corloc(replace(full, kappa_rule=rule))[0] for rule in KAPPA_RULES.values()]
    assert max(results) - min(results) < 0.05


def test_harder_worlds_are_harder(full: VmfMil) -> None:
    hard = replace(WORLD, object_kappa=100.0, cone=0.75, distractors=(2, 3))
    assert corloc(paper_method(hard), hard)[0] < corloc(full)[0] - 0.1
