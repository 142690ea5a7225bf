"""A*: the best choice of all, with proof, as far as the patience reaches (docs/method.md, section 15).

K = images, n_i = regions of image i
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
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
        pairs = _Pairs.of(energy, messages)
        waiting: list[tuple[float, tuple[int, ...]]] = []
        _wait(waiting, (), pairs.bounds(()), best)
        for _ in range(self.patience):
            if not waiting or waiting[0][0] >= best.energy - _slack(best.energy):
                return Choice(best.rows, best.energy, best.energy)
            _, rows = heapq.heappop(waiting)
            bounds = pairs.bounds(rows)
            if len(rows) + 1 < len(energy):
                _wait(waiting, rows, bounds, best)
                continue
            chosen = np.array([*rows, int(bounds.argmin())], dtype=np.int64)
            best = min(best, Choice(chosen, energy.of(chosen), best.bound), key=lambda choice: choice.energy)
        least = min(waiting[0][0], best.energy) if waiting else best.energy
        return Choice(best.rows, best.energy, max(best.bound, least))


def _wait(waiting: list[tuple[float, tuple[int, ...]]], rows: tuple[int, ...], bounds: Array, best: Choice) -> None:
    """Let all partial choices wait that go on from ``rows`` and may still be better than the best."""
    for row in np.flatnonzero(bounds < best.energy).tolist():
        heapq.heappush(waiting, (float(bounds[row]), (*rows, row)))


def _slack(energy: float) -> float:
    """What rounding in half a million sums may leave."""
    return 1e-5 * max(1.0, abs(energy))


@final
@dataclass(frozen=True, eq=False)
class _Pairs:
    """The energy as a sum over pairs of images alone, and what it is at least."""

    costs: dict[tuple[int, int], Array]
    """(n_i, n_j) of every two images"""
    sizes: tuple[int, ...]
    """(K) numbers of regions"""
    ahead: tuple[float, ...]
    """Least sum of all pairs of images from each image on"""

    @classmethod
    def of(cls, energy: Energy, messages: Messages) -> _Pairs:
        """Of an energy, made tight by messages."""
        costs, images = reparameterized(energy, messages), range(len(energy))
        least = {pair: float(values.min()) for pair, values in costs.items()}
        ahead = [sum(value for (i, _), value in least.items() if i >= k) for k in (*images, len(energy))]
        return cls(costs, tuple(map(len, energy.alone)), tuple(ahead))

    def bounds(self, rows: tuple[int, ...]) -> Array:
        """(n_k,) lower bounds of all choices that begin with ``rows`` and have each row of the next image k."""
        k = len(rows)
        fixed = sum(self.costs[i, j][rows[i], rows[j]] for i in range(k) for j in range(i + 1, k))
        total = self._given(rows, k) + fixed
        for later in range(k + 1, len(self.sizes)):
            total += (self.costs[k, later] + self._given(rows, later)).min(axis=1)
        return total + self.ahead[k + 1]

    def _given(self, rows: tuple[int, ...], image: int) -> Array:
        """(n,) what speaks against each region of an image, given what is chosen in those before."""
        total = np.zeros(self.sizes[image])
        for i, row in enumerate(rows):
            total += self.costs[i, image][row]
        return total


def reparameterized(energy: Energy, messages: Messages) -> dict[tuple[int, int], Array]:
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
