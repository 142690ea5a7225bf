"""What a person pointed at, as learning wants it: a row of the photo's bag, or a box that was drawn and described."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import final

from tag2box.product.corrections import Known, Pointed
from tag2box.product.learning import Region
from tag2box.types import ProposalBag

Describe = Callable[[str, Pointed], ProposalBag]
"""Gives for a photo's name and a box that was drawn in it a bag with the box as its last row."""


@final
class Pointing:
    """Regions of what a person said; a drawn box is described once and is the same region ever after."""

    def __init__(self, describe: Describe) -> None:
        """``describe`` is asked the first time that a box is needed."""
        self._describe = describe
        self._drawn: dict[tuple[str, Pointed], ProposalBag] = {}

    def regions(self, known: Known, photos: Container[str]) -> dict[str, dict[str, Region]]:
        """Thing → photo → its region, for those photos that could be used."""
        return {
            label: {photo: self._region(photo, pointed) for photo, pointed in places.items() if photo in photos}
            for label, places in known.regions.items()
        }

    def _region(self, photo: str, pointed: Pointed) -> Region:
        if pointed.row is not None:
            return pointed.row
        if (photo, pointed) not in self._drawn:
            self._drawn[photo, pointed] = self._describe(photo, pointed)
        return self._drawn[photo, pointed]
