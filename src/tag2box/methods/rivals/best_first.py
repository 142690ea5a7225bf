"""A*: the best choice of all, with proof, as far as the patience reaches (docs/method.md, section 15).

K = images, n_i = regions of image i
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count
from typing import final

import numpy as np

from tag2box.arrays import Array
from tag2box.methods.rivals.energies import Choice, Energy
from tag2box.methods.rivals.message_passing import Messages, Trws


@final
@dataclass(frozen=True)
class BestFirst:
    """Goes on with the partial choice of the lowest bound, until a whole one is the lowest."""

    patience: int = 300
    """Partial choices that are gone on with; then the best so far is the answer, with a bound"""
    start: Trws = field(default_factory=Trws)
    """Its messages make the bounds tight, and its choice is the one to beat"""

    def __call__(self, energy: Energy) -> Choice:
        """The best choice, or the best one found and how far from the best it can be."""
        best, messages = self.start.passed(energy)
        if best.bound >= best.energy - _slack(best.energy):
            return best
        costs = _reparameterized(energy, messages)
        least = {pair: float(values.min()) for pair, values in costs.items()}
        ahead = [
            sum(least[i, j] for i in range(k, len(energy)) for j in range(i + 1, len(energy)))
            for k in range(len(energy) + 1)
        ]  # bound of all pairs of images from k on
        number = count()
        first = _bounds(costs, len(energy), (), ahead)
        waiting: list[tuple[float, int, tuple[int, ...]]] = [
            (float(bound), next(number), (row,)) for row, bound in enumerate(first.tolist()) if bound < best.energy
        ]
        heapq.heapify(waiting)
        for _ in range(self.patience):
            if not waiting or waiting[0][0] >= best.energy - _slack(best.energy):
                return Choice(best.rows, best.energy, best.energy)
            _, _, rows = heapq.heappop(waiting)
            bounds = _bounds(costs, len(energy), rows, ahead)
            if len(rows) + 1 == len(energy):
                chosen = np.array([*rows, int(bounds.argmin())], dtype=np.int64)
                found = energy.of(chosen)
                if found < best.energy:
                    best = Choice(chosen, found, best.bound)
                continue
            for row in np.flatnonzero(bounds < best.energy).tolist():
                heapq.heappush(waiting, (float(bounds[row]), next(number), (*rows, row)))
        return Choice(
            best.rows, best.energy, max(best.bound, min(waiting[0][0], best.energy)) if waiting else best.energy
        )


def _slack(energy: float) -> float:
    """What rounding in half a million sums may leave."""
    return 1e-5 * max(1.0, abs(energy))


def _reparameterized(energy: Energy, messages: Messages) -> dict[tuple[int, int], Array]:
    """(n_i, n_j) of every two images, into which all is put that speaks against a region alone.

    The sum over all pairs is the energy, whatever the messages are.
    """
    size = len(energy)
    beliefs = [
        alone + sum(messages[j, i] for j in range(size) if j != i) for i, alone in enumerate(energy.alone)
    ]  # (n_i,)
    shares = [belief / max(1, size - 1) for belief in beliefs]
    return {
        (i, j): values + (shares[i] - messages[j, i])[:, None] + (shares[j] - messages[i, j])
        for (i, j), values in energy.tables.items()
    }


def _bounds(costs: dict[tuple[int, int], Array], size: int, rows: tuple[int, ...], ahead: list[float]) -> Array:
    """(n_k,) lower bounds of all choices that begin with ``rows`` and have each row of the next image k."""
    k = len(rows)
    total = np.zeros(_rows_of(costs, k))
    for i, row in enumerate(rows):
        total += costs[i, k][row]
    total += sum(costs[i, j][rows[i], rows[j]] for i in range(k) for j in range(i + 1, k))
    for later in range(k + 1, size):
        given: Array | float = 0.0
        for i, row in enumerate(rows):
            given = given + costs[i, later][row]
        total += (costs[k, later] + given).min(axis=1)
    return total + ahead[k + 1]


def _rows_of(costs: dict[tuple[int, int], Array], k: int) -> int:
    return costs[k, k + 1].shape[0] if (k, k + 1) in costs else costs[k - 1, k].shape[1]
