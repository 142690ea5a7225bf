"""Greedy Tree: join images two by two, and keep the best partial choices of each pair (docs/method.md, section 15).

K = images, s, t = partial choices of two groups of images
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from tag2box.arrays import Array, Ints, require_number
from tag2box.methods.rivals.energies import Choice, Energy


class _Partial(NamedTuple):
    """Choices in some of the images, the best first."""

    images: tuple[int, ...]
    rows: Ints
    """(s, number of images)"""
    energies: Array
    """(s,)"""


@final
@dataclass(frozen=True)
class GreedyTree:
    """Exact for two images; for more, a choice that is lost early is lost."""

    keep: int = 300
    """Partial choices that go up from every pair"""

    def __post_init__(self) -> None:
        require_number("partial choices to keep", self.keep, at_least=1)

    def __call__(self, energy: Energy) -> Choice:
        """The best choice at the root; an odd image passes up to the next level."""
        nodes = [_leaf(image, alone) for image, alone in enumerate(energy.alone)]
        while len(nodes) > 1:
            pairs = zip(nodes[::2], nodes[1::2], strict=False)
            nodes = [*(self._join(energy, *pair) for pair in pairs), *_left_over(nodes)]
        return Choice(nodes[0].rows[0], float(nodes[0].energies[0]))

    def _join(self, energy: Energy, first: _Partial, second: _Partial) -> _Partial:
        total = first.energies[:, None] + second.energies  # (s, t)
        for i, rows in zip(first.images, first.rows.T, strict=True):
            for j, others in zip(second.images, second.rows.T, strict=True):
                total += _between(energy, (i, rows), (j, others))
        flat = total.ravel()
        best = np.argpartition(flat, self.keep)[: self.keep] if len(flat) > self.keep else np.arange(len(flat))
        best = best[np.lexsort((best, flat[best]))]
        left, right = np.unravel_index(best, total.shape)
        rows = np.concatenate([first.rows[left], second.rows[right]], axis=1)
        return _Partial((*first.images, *second.images), rows, flat[best])


def _leaf(image: int, alone: Array) -> _Partial:
    order = np.argsort(alone, kind="stable")
    return _Partial((image,), order[:, None], alone[order])


def _left_over(nodes: Sequence[_Partial]) -> Sequence[_Partial]:
    return nodes[-1:] if len(nodes) % 2 else ()


def _between(energy: Energy, first: tuple[int, Ints], second: tuple[int, Ints]) -> Array:
    """(s, t) energy between the rows of two images; the rows that several choices share are compared once."""
    (i, rows), (j, others) = first, second
    some, back = np.unique(rows, return_inverse=True)
    more, again = np.unique(others, return_inverse=True)
    return energy.between(i, some, j, more)[back][:, again]
