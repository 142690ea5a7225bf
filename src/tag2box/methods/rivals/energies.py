"""The energy of a choice of one region in every image: low where the chosen regions show one thing (15.5).

K = images, n_i = regions of image i
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, final

import numpy as np

from tag2box.arrays import Array, Ints
from tag2box.methods.rivals.relations import Projected, RelationNetwork

Rows = Ints | slice
ALL = slice(None)


@final
@dataclass(frozen=True, eq=False)
class Energy:
    """What speaks against each region by itself, and against each two of them together."""

    alone: tuple[Array, ...]
    """(n_i,) for each image"""
    between: Callable[[int, Rows, int, Rows], Array]
    """Of some rows of an image and some rows of a later one; asked for when it is needed"""

    @classmethod
    def of_tables(cls, alone: Sequence[Array], tables: dict[tuple[int, int], Array]) -> Energy:
        """From all pairs, written down."""
        return cls(tuple(alone), lambda i, rows, j, others: tables[i, j][rows][:, others])

    @classmethod
    def of_relations(cls, network: RelationNetwork, projected: Sequence[Projected], alone: Sequence[Array]) -> Energy:
        """The more two regions are alike, the lower."""
        return cls(
            tuple(alone),
            lambda i, rows, j, others: (
                -network.table(projected[i].at(rows), projected[j].at(others)).astype(np.float64)
            ),
        )

    def __len__(self) -> int:
        return len(self.alone)

    def of(self, rows: Sequence[int] | Ints) -> float:
        """Of one choice (K,)."""
        own = sum(float(alone[row]) for alone, row in zip(self.alone, rows, strict=True))
        return own + sum(float(table[rows[i], rows[j]]) for (i, j), table in self.tables.items())

    @cached_property
    def tables(self) -> dict[tuple[int, int], Array]:
        """(n_i, n_j) of every two images, the earlier one first."""
        pairs = [(i, j) for i in range(len(self)) for j in range(i + 1, len(self))]
        return {(i, j): self.between(i, ALL, j, ALL) for i, j in pairs}


class Search(Protocol):
    """Looks for the choice of the lowest energy."""

    def __call__(self, energy: Energy) -> Choice:
        """The best choice that it finds."""
        ...


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """One region of every image."""

    rows: Ints
    """(K,)"""
    energy: float
    bound: float = -np.inf
    """No choice has less; equal to the energy where this one is known to be the best"""
