"""One task: which images teach which classes, and which images ask. Ids only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import final

from tag2box.errors import ShapeError


@final
@dataclass(frozen=True)
class TaggedImage:
    """An image id with the target classes that the image shows."""

    image_id: str
    tags: tuple[str, ...]


@final
@dataclass(frozen=True)
class Episode:
    """A few-shot task: tagged support images, images without any target class, and query images."""

    seed: int
    index: int
    """Place in the sequence of episodes that the seed gives."""
    classes: tuple[str, ...]
    support: tuple[TaggedImage, ...]
    negatives: tuple[str, ...]
    queries: tuple[str, ...]

    def positives(self, label: str) -> tuple[str, ...]:
        """Support images that show ``label``; with several tags per image there may be more than K."""
        return tuple(image.image_id for image in self.support if label in image.tags)


def require_tag_set(image_id: str, tags: Collection[str]) -> None:
    """Refuse one text where a set of tags belongs: its letters would pass for tags."""
    if isinstance(tags, str):
        raise ShapeError(f"the tags of image {image_id!r} are the text {tags!r}.", "a set of tags", f"pass [{tags!r}].")
