"""Bags that were read from a store and may be asked for again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import final

from tag2box.types import ProposalBag

MOST_BYTES = 2**28
"""Of bags that a store keeps. What models make of a bag lives as long as the bag, and takes twice as much."""


@final
class KeptBags:
    """Bags by image id, the last ones used kept up to a number of bytes; the others are read again."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._room = most_bytes
        self._kept: OrderedDict[str, ProposalBag] = OrderedDict()

    def bag(self, image_id: str, read: Callable[[str], ProposalBag]) -> ProposalBag:
        """The bag of an image, by ``read`` if it is not kept."""
        if image_id in self._kept:
            self._kept.move_to_end(image_id)
            return self._kept[image_id]
        bag = read(image_id)
        self._kept[image_id] = bag
        self._room -= _bytes_of(bag)
        while self._room < 0:
            self._room += _bytes_of(self._kept.popitem(last=False)[1])
        return bag


def _bytes_of(bag: ProposalBag) -> int:
    return sum(column.nbytes for column in (bag.boxes, bag.directions.rows, bag.objectness, bag.norms))
