"""What methods know before they see a task: all of it fitted on base regions of one extractor.

d = feature dimension
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, require_shape
from tag2box.methods.localizers import GaussianBackground, MixtureBackground, VmfBackground
from tag2box.methods.rivals import AppearanceObjectness
from tag2box.methods.spread import Spread, Whitening


@final
@dataclass(frozen=True, eq=False)
class Knowledge:
    """Backgrounds of every kind, the mean and the spread of the base features, and objectness by appearance."""

    fingerprint: str
    """Of the extractor whose features it was fitted on"""
    center: Array | None
    """(d,), mean of the base features; None leaves features as they are"""
    background: VmfBackground | MixtureBackground
    """On centred features"""
    spread: Spread
    """Of centred features"""
    gaussian: GaussianBackground
    """On features at their own length"""
    tukey: GaussianBackground
    """On their roots"""
    objectness: AppearanceObjectness
    images: int
    regions: int
    """How much the background was fitted on"""

    def __post_init__(self) -> None:
        if self.center is not None:
            object.__setattr__(self, "center", frozen(self.center, np.float64))
            require_shape("base mean", self.center, (self.dimension,))

    @cached_property
    def whitening(self) -> Whitening:
        """The space in which base features scatter alike in every direction."""
        return self.spread.whitening(self.center)

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        return len(self.spread.mean)
