"""Bags that were read from a store and may be asked for again."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import final

from tag2box.types import ProposalBag

MOST_BYTES = 2**28
"""Of bags that a store keeps. What models make of a bag lives as long as the bag, and takes twice as much."""
SHARE_OF_MEMORY = 1 / 8
"""That may be filled with bags where nothing else is done: with what is made of them, it is less than a half."""


def memory_bytes() -> int | None:
    """The machine's memory; None where the system does not tell."""
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def room_for_bags(processes: int) -> int:
    """Bytes of bags that each of so many processes may keep, if they have the machine for themselves."""
    return max(MOST_BYTES, int(SHARE_OF_MEMORY * (memory_bytes() or 0)) // processes)


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
