"""The door that every localizer comes through."""

from __future__ import annotations

from typing import Protocol

from tag2box.arrays import Array
from tag2box.methods.learners import ObjectLearner


class Localizer(ObjectLearner, Protocol):
    """Picks, in each image of a support set, the region of the common object, in a space that others can use too."""

    @property
    def center(self) -> Array | None:
        """(d,) what it subtracts from all features first, so that a detector learns in the same space; or None."""
        ...
