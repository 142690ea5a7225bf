"""How base features scatter, and a space in which they scatter alike in every direction.

C = classes, n = regions, d = feature dimension. Equations: docs/method.md, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import final
from weakref import WeakKeyDictionary

import numpy as np

from tag2box.arrays import Array, frozen, require_finite, require_shape
from tag2box.rows import Lens
from tag2box.types import ProposalBag, require_dimension


@final
@dataclass(frozen=True, eq=False)
class Spread:
    """How the centred features of base regions scatter."""

    mean: Array
    """(d,)"""
    covariance: Array
    """(d, d)"""

    def __post_init__(self) -> None:
        for name, shape in (("mean", (None,)), ("covariance", (len(self.mean), len(self.mean)))):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))
            require_shape(f"{name} of the spread", getattr(self, name), shape)
            require_finite(f"{name} of the spread", getattr(self, name))

    def whitening(self, center: Array | None) -> Whitening:
        """Into the space where features with this centre scatter alike, up to a ridge of their mean scatter."""
        values, vectors = np.linalg.eigh(self.covariance)
        values = np.maximum(values, 0.0)
        lengths = np.sqrt(values + values.mean())
        scales = np.where(lengths > 0, lengths, 1.0)  # (d,), of what does not scatter at all, 1
        return Whitening(center, self.mean, (vectors / scales) @ vectors.T, (vectors * scales) @ vectors.T)


@final
@dataclass(frozen=True, eq=False)
class Whitening:
    """From features to directions in which no axis is louder than another (4.2), and back to centred ones."""

    center: Array | None
    """(d,), what features are centred by first; None leaves them as they are"""
    mean: Array
    """(d,), of centred features"""
    matrix: Array
    """(d, d)"""
    inverse: Array
    """(d, d)"""
    _seen: WeakKeyDictionary[ProposalBag, ProposalBag] = field(default_factory=WeakKeyDictionary, repr=False)
    """What was worked out, for as long as somebody holds the bag that it is of"""

    @cached_property
    def lens(self) -> Lens:
        """From features to this space."""
        return Lens(self.center, self.mean, self.matrix)

    def bag(self, bag: ProposalBag) -> ProposalBag:
        """A bag in this space; a region that is exactly like the mean of all is like nothing there."""
        if bag not in self._seen:
            require_dimension("spread of base regions", bag, len(self.mean))
            self._seen[bag] = bag.through(self.lens)
        return self._seen[bag]

    def forth(self, directions: Array) -> Array:
        """(C, d) directions among centred features, in this space."""
        return _units(directions @ self.matrix)

    def back(self, directions: Array) -> Array:
        """(C, d) directions among centred features that look like these in this space."""
        return _units(directions @ self.inverse)


def _units(rows: Array) -> Array:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
