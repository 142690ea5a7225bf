"""How base features scatter, and the space in which they scatter alike in every direction.

d = feature dimension. Equations: docs/method.md, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, require_finite, require_shape
from tag2box.methods.space import Space


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

    def whitening(self, center: Array | None) -> Space:
        """The space where features with this centre scatter alike, up to a ridge of their mean scatter."""
        vectors, scales = self._axes()
        return Space(center, self.mean, (vectors / scales) @ vectors.T)

    def loudest(self, count: int) -> Array:
        """(d, count) the axes of that space along which features scatter most, or all if there are fewer."""
        vectors, scales = self._axes()  # from the quietest to the loudest
        return (vectors / scales)[:, ::-1][:, :count]

    def _axes(self) -> tuple[Array, Array]:
        """(d, d) unit columns, and what features along each are divided by (d,)."""
        values, vectors = np.linalg.eigh(self.covariance)
        values = np.maximum(values, 0.0)
        lengths = np.sqrt(values + values.mean())
        return vectors, np.where(lengths > 0, lengths, 1.0)  # of what does not scatter at all, 1
