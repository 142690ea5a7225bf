"""Networks of rivals: as they are used they are what they were when they learned, and what they learn by."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from samples import unit
from tag2box.training.rivals.relations import Relation, focal_loss
from tag2box.training.rivals.silco import SilcoModules, SilcoRecipe, hard_loss


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
