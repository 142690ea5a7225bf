"""Searches for the choice of the lowest energy, against all choices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from samples import some_relations
from tag2box.methods.rivals import BestFirst, Choice, Energy, GreedyTree, Search, Trws
from tag2box.methods.rivals.best_first import _Pairs, reparameterized
from tag2box.types import ProposalBag
from tag2box.worlds import World, plant_task


def random_energy(seed: int, sizes: tuple[int, ...]) -> Energy:
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(len(sizes)) for j in range(i + 1, len(sizes))]
    tables = {(i, j): rng.standard_normal((sizes[i], sizes[j])) for i, j in pairs}
    return Energy.of_tables([rng.standard_normal(size) for size in sizes], tables)


def brute_force(energy: Energy) -> Choice:
    """The best of all choices."""
    choices = product(*(range(len(alone)) for alone in energy.alone))
    best = min(choices, key=energy.of)
    return Choice(np.array(best), energy.of(best))


SIZES = [(4, 3), (3, 5, 4), (4, 4, 3, 5), (3, 4, 2, 3, 4), (1, 6, 1, 2)]
SEARCHES: dict[str, Search] = {"greedy": GreedyTree(), "trws": Trws(), "astar": BestFirst(patience=100_000)}


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", SEARCHES)
def test_the_energy_is_that_of_the_choice_and_never_below_the_best(name: str, sizes: tuple[int, ...]) -> None:
    for seed in range(5):
        energy = random_energy(seed, sizes)
        found, best = SEARCHES[name](energy), brute_force(energy)
        assert found.energy == pytest.approx(energy.of(found.rows))
        assert found.energy >= best.energy - 1e-9
        assert found.bound <= best.energy + 1e-9
        if name == "astar":
            assert found.energy == pytest.approx(best.energy)
            assert found.bound == pytest.approx(best.energy)
            np.testing.assert_array_equal(found.rows, best.rows)


def test_greedy_keeps_what_it_was_told_and_is_exact_with_all_of_it() -> None:
    gaps = []
    for seed in range(20):
        energy = random_energy(seed, (5, 4, 5, 3))
        best = brute_force(energy).energy
        assert GreedyTree(keep=1000)(energy).energy == pytest.approx(best)
        gaps.append(GreedyTree(keep=1)(energy).energy - best)
    assert max(gaps) > 0.1  # what is lost early is lost


@pytest.mark.parametrize("name", SEARCHES)
def test_of_one_image_the_best_region_is_chosen(name: str) -> None:
    found = SEARCHES[name](Energy.of_tables([np.array([3.0, -1.0, 2.0])], {}))
    assert (found.rows.tolist(), found.energy) == ([1], -1.0)


def test_an_odd_image_passes_up() -> None:
    energy = random_energy(0, (3, 4, 5))
    assert GreedyTree()(energy).rows.shape == (3,)
    assert GreedyTree()(energy).energy == pytest.approx(brute_force(energy).energy)  # nothing is left out


def test_greedy_compares_only_what_it_kept() -> None:
    energy, asked = random_energy(3, (9, 9, 9, 9)), list[int]()

    def counted(i: int, rows: object, j: int, others: object) -> object:
        table = energy.between(i, rows, j, others)  # type: ignore[arg-type]
        asked.append(table.size)
        return table

    GreedyTree(keep=3)(Energy(energy.alone, counted))  # type: ignore[arg-type]
    assert asked[:2] == [81, 81]
    assert max(asked[2:]) <= 9


def test_without_patience_there_is_a_bound_and_no_proof() -> None:
    some = [BestFirst(patience=1)(random_energy(seed, (6, 6, 6, 6, 6))) for seed in range(10)]
    assert all(found.bound <= found.energy for found in some)
    assert any(found.bound < found.energy - 1e-6 for found in some)


def test_messages_leave_the_energy_of_every_choice_as_it_was() -> None:
    energy = random_energy(1, (3, 4, 3))
    costs = reparameterized(energy, Trws(rounds=3).passed(energy).messages)
    for choice in product(range(3), range(4), range(3)):
        assert sum(costs[i, j][choice[i], choice[j]] for i, j in costs) == pytest.approx(energy.of(choice))


def test_no_choice_is_below_the_bound_of_its_beginning() -> None:
    for seed in range(5):
        energy = random_energy(seed, (3, 4, 3, 2))
        pairs = _Pairs.of(energy, Trws(rounds=2).passed(energy).messages)
        for begun in ((), (1,), (2, 3), (0, 1, 2)):
            bounds = pairs.bounds(begun)
            for row, bound in enumerate(bounds):
                rest = product(*(range(size) for size in (3, 4, 3, 2)[len(begun) + 1 :]))
                best = min(energy.of([*begun, row, *others]) for others in rest)
                assert bound <= best + 1e-9
                if len(begun) == 3:
                    assert bound == pytest.approx(best)


def test_on_planted_tasks_greedy_is_never_below_messages_nor_these_below_astar() -> None:
    network, energies = some_relations(World().dimension, 8), []
    for seed in range(6):
        bags: list[ProposalBag] = [image.bag for image in plant_task(World(), seed, ways=1, shots=4).support]
        projected = [network.project(bag) for bag in bags]
        energy = Energy.of_relations(network, projected, [np.zeros(len(bag)) for bag in bags])
        energies.append([search(energy).energy for search in (GreedyTree(), Trws(), BestFirst(patience=3000))])
    greedy, messages, best = np.array(energies).T
    assert (best <= greedy + 1e-4).all()
    assert (best <= messages + 1e-4).all()
    assert greedy.sum() >= messages.sum() - 1e-3
