"""Random draws that are the same on every machine and with every version of every library.

Each draw is the hash of a seed, the place in the sequence and a counter; nothing else remembers anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar, final

T = TypeVar("T")


@final
class Draws:
    """A stream of uniform draws, fixed by its name."""

    def __init__(self, *name: int | str) -> None:
        self._name = "/".join(str(part) for part in name)
        self._count = 0

    def below(self, limit: int) -> int:
        """A number from 0 to ``limit - 1``; 256 bits leave no bias that could be measured."""
        digest = hashlib.sha256(f"{self._name}/{self._count}".encode()).digest()
        self._count += 1
        return int.from_bytes(digest, "big") % limit

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` different items in random order (the first steps of a Fisher-Yates shuffle)."""
        pool = list(items)
        for place in range(count):
            other = place + self.below(len(pool) - place)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]
