"""How base features scatter, and a space in which they scatter alike in every direction.

C = classes, n = regions, d = feature dimension. Equations: docs/method.md, sections 4 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import final
from weakref import WeakKeyDictionary

import numpy as np

from tag2box.arrays import Array, frozen, require_finite, require_shape
from tag2box.methods.view import center_bag, unit_rows
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

    def decorrelated(self, directions: Array, ridge: float) -> Array:
        """(C, d), the directions in which objects stand out most against the spread (9.5)."""
        values, vectors = self._axes
        return (directions @ vectors) / (values + ridge * values.mean()) @ vectors.T

    def whitening(self, center: Array | None) -> Whitening:
        """Into the space where features with this centre scatter alike, up to a ridge of their mean scatter."""
        values, vectors = self._axes
        lengths = np.sqrt(values + values.mean())
        scales = np.where(lengths > 0, lengths, 1.0)  # (d,), of what does not scatter at all, 1
        return Whitening(center, self.mean, (vectors / scales) @ vectors.T, (vectors * scales) @ vectors.T)

    @cached_property
    def _axes(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self.covariance)
        return np.maximum(values, 0.0), vectors


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

    def bag(self, bag: ProposalBag) -> ProposalBag:
        """A bag in this space; a region that is like the mean of all keeps the direction that it has."""
        if bag not in self._seen:
            require_dimension("spread of base regions", bag, len(self.mean))
            centered = center_bag(bag, self.center)
            rows = (centered.features - self.mean.astype(np.float32)) @ self.matrix.astype(np.float32)  # (n, d)
            self._seen[bag] = centered.with_features(unit_rows(rows, centered.features), centered.norms)
        return self._seen[bag]

    def back(self, directions: Array) -> Array:
        """(C, d) directions among centred features that look like these in this space."""
        found = directions @ self.inverse  # (C, d)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(lengths > 0, lengths, 1.0)
