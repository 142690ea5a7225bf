"""A photo and the things that a person says are in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final


@final
@dataclass(frozen=True)
class TaggedPhoto:
    """Which things are in which photo: all that a person has to say."""

    name: str
    """Unique in its set; where it can be, the path from the set's folder with forward slashes"""
    path: Path
    tags: frozenset[str]
    """Empty for a photo that shows none of the things"""
