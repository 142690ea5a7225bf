"""TRW-S: tree-reweighted messages, passed through the images in turn (docs/method.md, section 15).

K = images, n_i = regions of image i
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from tag2box.arrays import Array, Ints, require_number
from tag2box.methods.rivals.energies import Choice, Energy

Messages = dict[tuple[int, int], Array]
"""(sender, receiver) → (n_receiver,)"""


class Passed(NamedTuple):
    """Where the messages ended."""

    choice: Choice
    messages: Messages


@final
@dataclass(frozen=True)
class Trws:
    """Sequential tree-reweighted message passing: a choice, and a bound below every choice."""

    rounds: int = 30
    tol: float = 1e-6
    """The bound has stopped rising, as a share of its size"""

    def __post_init__(self) -> None:
        require_number("rounds", self.rounds, at_least=1)

    def __call__(self, energy: Energy) -> Choice:
        """The best choice of all rounds."""
        return self.passed(energy).choice

    def passed(self, energy: Energy) -> Passed:
        """The same, and the messages."""
        count = len(energy)
        messages = {(i, j): np.zeros(len(energy.alone[j])) for i in range(count) for j in range(count) if i != j}
        best, bound = Choice(np.zeros(count, dtype=np.int64), np.inf), -np.inf
        for _ in range(self.rounds):
            before = bound
            best = min(best, self._pass(energy, messages, range(count))[0], key=lambda choice: choice.energy)
            choice, found = self._pass(energy, messages, range(count - 1, -1, -1))
            best, bound = min(best, choice, key=lambda choice: choice.energy), max(bound, found)
            if best.energy - bound <= self.tol * max(1.0, abs(bound)) or bound - before <= self.tol * abs(bound):
                break
        return Passed(Choice(best.rows, best.energy, min(bound, best.energy)), messages)

    def _pass(self, energy: Energy, messages: Messages, order: range) -> tuple[Choice, float]:
        """One pass: every image chooses, given what is chosen, and tells those that come later what it makes of it."""
        count, bound = len(energy), 0.0
        rows = np.zeros(count, dtype=np.int64)
        done: list[int] = []
        for i in order:
            incoming = {j: messages[j, i] for j in range(count) if j != i}
            own = energy.alone[i] + sum(incoming.values())  # (n_i,)
            rows[i] = self._chosen(energy, i, own, done, incoming, rows)
            least = own.min()
            bound += float(least)
            own = own - least
            later = [j for j in order if j != i and j not in done]
            share = own / max(len(later), len(done), 1)
            for j in later:
                message = (share - incoming[j])[:, None] + table(energy, i, j)  # (n_i, n_j)
                sent = message.min(axis=0)
                bound += float(sent.min())
                messages[i, j] = sent - sent.min()
            done.append(i)
        return Choice(rows, energy.of(rows)), bound

    def _chosen(
        self, energy: Energy, i: int, own: Array, done: list[int], incoming: dict[int, Array], rows: Ints
    ) -> int:
        """The best row, given those that are chosen; what comes later speaks by its messages."""
        given = own - sum(incoming[j] for j in done) if done else own
        for j in done:
            given = given + table(energy, j, i)[rows[j]]
        return int(np.argmin(given))


def table(energy: Energy, i: int, j: int) -> Array:
    """(n_i, n_j), whichever of the images comes first."""
    return energy.tables[i, j] if i < j else energy.tables[j, i].T
