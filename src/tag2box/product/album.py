"""The photos that somebody gave in Python, in their order, and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import final

import numpy as np

from tag2box.boxes import Size
from tag2box.errors import RunError
from tag2box.extract import Picture as Opened
from tag2box.types import ProposalBag

Picture = str | Opened
"""A file, a Pillow image, or 8-bit pixels (height, width, 3) in RGB order."""
PhotoName = str | int
"""What a photo is called: its path as it was given; its place, if it is no file or was given twice."""


@final
class Album:
    """Finds a photo again by its path, by the picture itself, or by its place among the others."""

    def __init__(self, pictures: Sequence[Picture]) -> None:
        """Paths are meant from the folder in which one is now."""
        self.pictures: tuple[Opened, ...] = tuple(map(opened, pictures))
        paths = Counter(each for each in self.pictures if isinstance(each, Path))
        self.names: tuple[PhotoName, ...] = tuple(
            str(given) if isinstance(picture, Path) and paths[picture] == 1 else place
            for place, (given, picture) in enumerate(zip(pictures, self.pictures, strict=True))
        )
        self._files = Counter(Path(name).name for name in self.names if isinstance(name, str))

    def __len__(self) -> int:
        return len(self.pictures)

    def title(self, place: int) -> str:
        """What people read: the name of the file, if no other file has it."""
        name = self.names[place]
        if isinstance(name, int):
            return f"photo {name}"
        return Path(name).name if self._files[Path(name).name] == 1 else name

    def places_of(self, photo: Picture | int) -> list[int]:
        """Where a photo stands; none for a new one, several for one that was given several times."""
        if isinstance(photo, int | np.integer):
            return [int(photo)] if 0 <= photo < len(self) else []
        wanted = opened(photo)
        itself = [place for place, each in enumerate(self.pictures) if each is wanted]
        return itself or [place for place, each in enumerate(self.pictures) if _is_same(each, wanted)]

    def place_of(self, photo: Picture | int) -> int:
        """Where a photo stands; one that was not given is refused."""
        places = self.places_of(photo)
        if len(places) == 1:
            return places[0]
        named = photo if isinstance(photo, str | Path | int | np.integer) else "a picture"
        raise RunError(
            f"{named!s} was given {len(places)} times." if places else f"{named!s} is none of the tagged photos.",
            "one of those that were given last: its path, the picture itself, or its place, "
            f"0 to {len(self) - 1}" + (f" ({', '.join(map(str, places))})" if places else ""),
            "give its place." if places else "check it.",
        )


@final
class MemoryBags:
    """Regions of photos that are on no disk."""

    def __init__(self, bags: Mapping[str, ProposalBag]) -> None:
        """Bags by the names of their photos."""
        self._bags = bags

    def __contains__(self, image_id: object) -> bool:
        return image_id in self._bags

    def lean_bag(self, image_id: str) -> ProposalBag:
        """The regions of a photo."""
        return self.bag(image_id)

    def bag(self, image_id: str) -> ProposalBag:
        """The regions of a photo."""
        return self._bags[image_id]

    def size(self, image_id: str) -> Size:
        """Height and width of a photo."""
        return self.bag(image_id).size


def opened(picture: Picture) -> Opened:
    """A picture as extractors take it; a file by its whole path, wherever one goes to later."""
    return Path(picture).absolute() if isinstance(picture, str | Path) else picture


def _is_same(one: Opened, other: Opened) -> bool:
    """Whether two pictures are the same file, or have the same pixels in memory."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.array_equal(one, other)
    try:
        return type(one) is type(other) and one == other
    except Exception:  # a picture that was opened from a broken file; who looks at it is told
        return False
