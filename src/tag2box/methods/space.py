"""A space that methods look at features in: centred, moved by a mean, carried to other axes, at length 1.

C = classes, n = regions, d = feature dimension, k = axes. Equations: docs/method.md, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import final
from weakref import WeakKeyDictionary

import numpy as np

from tag2box.arrays import Array
from tag2box.rows import Lens
from tag2box.types import ProposalBag, require_dimension


@final
@dataclass(frozen=True, eq=False)
class Space:
    """Features along other axes: from there to directions, (4.2) or (4.5), and from directions back to centred ones."""

    center: Array | None
    """(d,), what features are centred by first; None leaves them as they are"""
    mean: Array
    """(d,), of centred features"""
    matrix: Array
    """(d, k), in columns the axes"""
    _seen: WeakKeyDictionary[ProposalBag, ProposalBag] = field(default_factory=WeakKeyDictionary, repr=False)
    """What was worked out, for as long as somebody holds the bag that it is of"""

    @cached_property
    def lens(self) -> Lens:
        """From features to this space."""
        return Lens(self.center, self.mean, self.matrix)

    @cached_property
    def inverse(self) -> Array:
        """(k, d), from directions of this space to the least that would be there again."""
        return np.linalg.pinv(self.matrix).astype(np.float64)

    def bag(self, bag: ProposalBag) -> ProposalBag:
        """A bag in this space; a region that is exactly like the mean of all is like nothing there."""
        if bag not in self._seen:
            require_dimension("space of base regions", bag, len(self.mean))
            self._seen[bag] = bag.through(self.lens)
        return self._seen[bag]

    def forth(self, directions: Array) -> Array:
        """(C, d) directions among centred features, in this space."""
        return _units(directions @ self.matrix)

    def back(self, directions: Array) -> Array:
        """(C, d) directions among centred features that look like these (C, k) in this space."""
        return _units(directions @ self.inverse)


def _units(rows: Array) -> Array:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
