"""Common object localization on planted worlds, where the order of the methods is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from samples import paper_method
from tag2box.data import Dataset, DatasetImage
from tag2box.evaluation import corloc_by_class, macro_mean
from tag2box.experiments.colocalization import (
    Hits,
    Task,
    draw_tasks,
    judge,
    load_tasks,
    outcomes,
    query_corloc,
    support_corloc,
    top_objectness,
    whole_image,
)
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import ProposalBag, Truth
from tag2box.worlds import World, plant_task


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[Task]:
    planted = plant_task(World(), seed=1, ways=3, shots=12, queries=1)
    folder = tmp_path_factory.mktemp("tasks") / "store"
    with StoreWriter(folder, StoreHeader("planted", World().dimension)) as writer:
        for image in planted.support:
            writer.append(image.bag)
    known = tuple(DatasetImage(Path("x"), 1, 1, image.truth) for image in planted.support)
    dataset = Dataset(planted.classes, known)
    return load_tasks(FeatureStore(folder), dataset, draw_tasks(dataset, 5, 20, seed=0))


def test_the_oracle_sets_the_limit_and_em_beats_the_floors(tasks: list[Task]) -> None:
    found = outcomes(tasks, paper_method(World()))
    query = {name: interval.value for name, (_, interval) in found.items()}
    assert query["oracle direction"] >= query["vMF-MIL"] > 0.9
    assert query["whole image"] < 0.2
    assert query["start without EM"] <= query["vMF-MIL"]
    assert set(query) == {"vMF-MIL", "start without EM", "oracle direction", "top objectness", "whole image"}


def test_a_task_has_its_query_apart(tasks: list[Task]) -> None:
    for task in tasks:
        assert len(task.support) == 5
        assert task.query.image_id not in {bag.image_id for bag in task.support}
        assert task.label in task.query_truth.labels


def test_macro_means_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(["a", "b", "b", "b"], size=40).tolist()
    hits = [Hits(label, tuple((rng.random(3) < 0.4).tolist()), bool(rng.random() < 0.7)) for label in labels]
    assert query_corloc(hits).value == pytest.approx(macro_mean(corloc_by_class([h.query for h in hits], labels)))
    spread = [hit for h in hits for hit in h.support]
    names = [label for label in labels for _ in range(3)]
    interval = support_corloc(hits)
    assert interval.value == pytest.approx(macro_mean(corloc_by_class(spread, names)))
    assert interval.low < interval.value < interval.high
    assert interval.trials == 40


def test_the_floors_by_hand() -> None:
    boxes = [[0, 0, 10, 10], [0, 0, 4, 4], [5, 5, 9, 9]]
    bag = ProposalBag.from_raw("photo", boxes, np.eye(3), [0.2, 0.3, 0.9])
    truth = Truth.plain("photo", [[5, 5, 9, 9]], ["cat"])
    task = Task("cat", (bag, bag), (truth, truth), bag, truth)
    assert judge(task, whole_image) == Hits("cat", (False, False), False)
    assert judge(task, top_objectness) == Hits("cat", (True, True), True)
