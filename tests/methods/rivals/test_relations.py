"""The relation network: all pairs at once are what each pair is by itself."""

from __future__ import annotations

import numpy as np
import pytest

from samples import random_bag, some_relations
from tag2box.arrays import Float32s, sigmoid
from tag2box.errors import ShapeError
from tag2box.methods.rivals import RelationNetwork, relations


def by_hand(network: RelationNetwork, first: Float32s, second: Float32s) -> float:
    """One pair, as the equations have it."""
    f0, f1 = (np.maximum(features @ network.enter + network.enter_bias, 0) for features in (first, second))
    gate = np.tanh(np.maximum(f0 @ network.gate[0] + f1 @ network.gate[1] + network.gate_bias, 0))
    share = sigmoid(np.maximum(f0 @ network.share[0] + f1 @ network.share[1] + network.share_bias, 0).astype(float))
    return float(network.weights @ (gate * share + (f0 + f1) / 2) + network.bias[0])


@pytest.mark.parametrize("block", [1, 3, 16])
def test_a_table_has_every_pair(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "BLOCK", block)
    network, rng = some_relations(), np.random.default_rng(0)
    first, second = random_bag(rng, 9), random_bag(rng, 4)
    table = network.table(network.project(first), network.project(second))
    assert table.shape == (9, 4)
    expected = [[by_hand(network, x, y) for y in second.features] for x in first.features]
    np.testing.assert_allclose(table, expected, rtol=1e-5, atol=1e-5)
    assert not np.allclose(network.table(network.project(second), network.project(first)).T, table)  # order counts


def test_some_rows_are_those_of_the_whole_table() -> None:
    network, rng = some_relations(), np.random.default_rng(1)
    first, second = (network.project(random_bag(rng, 8)) for _ in range(2))
    rows, others = np.array([5, 0, 5]), np.array([7, 2])
    some = network.table(first.at(rows), second.at(others))
    np.testing.assert_allclose(some, network.table(first, second)[rows][:, others], rtol=1e-6)


def test_features_of_another_extractor_are_refused() -> None:
    with pytest.raises(ShapeError, match="relation network"):
        some_relations(d=6).project(random_bag(np.random.default_rng(0), d=5))


def test_weights_that_do_not_fit_together_are_refused() -> None:
    network = some_relations()
    with pytest.raises(ShapeError, match="gate"):
        RelationNetwork(
            network.enter, network.enter_bias, network.gate[:1], network.gate_bias, network.share, network.share_bias,
            network.weights, network.bias,
        )  # fmt: skip
