"""Objectness as MI-SVM has it: a logistic regression on a region's features.

n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen
from tag2box.types import ProposalBag, require_dimension


@final
@dataclass(frozen=True, eq=False)
class AppearanceObjectness:
    """What regions on base objects look like, as against regions beside them."""

    weights: Array
    """(d,)"""
    bias: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights, np.float64))

    def __call__(self, bag: ProposalBag) -> Array:
        """(n,) log odds of being on an object."""
        require_dimension("objectness", bag, len(self.weights))
        return bag.features.astype(np.float64) @ self.weights + self.bias
