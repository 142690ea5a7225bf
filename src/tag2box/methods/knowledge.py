"""What methods know before they see a task: all of it fitted on base regions of one extractor.

d = feature dimension
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, require_finite, require_shape
from tag2box.errors import ModelError
from tag2box.methods.localizers import GaussianBackground, MixtureBackground, VmfBackground
from tag2box.methods.rivals import AppearanceObjectness, Schooling
from tag2box.methods.space import Space
from tag2box.methods.spread import Spread


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
    plain: VmfBackground
    """On features as they are, as the paper has it"""
    spread: Spread
    """Of centred features"""
    kinship: Array
    """(d, k), axes along which things of one kind are alike, and all else is not"""
    gaussian: GaussianBackground
    """On centred features at their own length"""
    tukey: GaussianBackground
    """On their roots"""
    objectness: AppearanceObjectness
    images: int
    regions: int
    """How much the background was fitted on"""
    schooling: Schooling | None = None
    """What rivals have learned beside it, where somebody wants to compare"""

    def __post_init__(self) -> None:
        if self.center is not None:
            object.__setattr__(self, "center", frozen(self.center, np.float64))
            require_shape("base mean", self.center, (self.dimension,))
        object.__setattr__(self, "kinship", frozen(self.kinship, np.float64))
        require_shape("axes of kinship", self.kinship, (self.dimension, None))
        require_finite("axes of kinship", self.kinship)

    @cached_property
    def whitening(self) -> Space:
        """The space in which base features scatter alike in every direction."""
        return self.spread.whitening(self.center)

    @cached_property
    def kin_space(self) -> Space:
        """The space in which things of one kind are alike, and all else is not."""
        return Space(self.center, self.spread.mean, self.kinship)

    @property
    def schooled(self) -> Schooling:
        """What rivals have learned; refused where they have not."""
        if self.schooling is None:
            raise ModelError(
                f"rivals have learned nothing about features of {self.fingerprint}.",
                "networks that were trained on base classes",
                "run tables with tag2box bench run, which trains them once.",
            )
        return self.schooling

    @property
    def dimension(self) -> int:
        """Length d of a feature."""
        return len(self.spread.mean)
