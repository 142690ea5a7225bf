"""The door that every localizer comes through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tag2box.arrays import Array
from tag2box.types import Localization, ProposalBag


class Localizer(Protocol):
    """Picks, in each image of a support set, the region of the common object."""

    @property
    def center(self) -> Array | None:
        """(d,) what it subtracts from all features first, so that a detector learns in the same space; or None."""
        ...

    def localize(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> Localization:
        """One row of each positive bag; the negatives show no such object and may be empty."""
        ...
