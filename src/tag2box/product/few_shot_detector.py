"""The whole product in Python: photos and tags in, boxes and a detector out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Self, final

import numpy as np
from PIL import Image

from tag2box.data import FoundBox
from tag2box.data.tags import photos_by_tag
from tag2box.errors import ShapeError, TooFewImagesError
from tag2box.extract import open_extractor
from tag2box.product.class_file import (
    ClassSet,
    load_classes,
    merge_classes,
    require_extractor,
    require_label,
    require_new,
    save_classes,
)
from tag2box.product.detecting import detect_classes
from tag2box.product.knowledge import Knowledge, knowledge_of
from tag2box.product.learning import LearnedClass, learn_class
from tag2box.types import Detections, ProposalBag, require_tag_set

Picture = str | Path | Image.Image | np.ndarray
"""A file, a Pillow image, or 8-bit pixels (height, width, 3) in RGB order."""


@final
class FewShotDetector:
    """Learns to detect things from photos that are only tagged with what they show.

    >>> detector = FewShotDetector().fit(["a.jpg", "b.jpg"], [["mug"], ["mug", "pen"]])  # doctest: +SKIP
    >>> for found in detector.detect("desk.jpg"):  # doctest: +SKIP
    ...     print(found.label, found.score, found.box)

    After ``fit``, ``localizations_`` says where each thing is in the photos that were given, and ``classes_`` what is
    known. Boxes are x0, y0, x1, y1 in pixels of the upright photo.
    """

    classes_: tuple[str, ...]
    """What it can detect"""
    localizations_: list[dict[str, FoundBox]]
    """For each photo that ``fit`` was given: tag → box, with its score and the doubt about it"""

    def __init__(self, model: str | Path | None = None, *, seed: int = 0) -> None:
        """Load a model's folder, or the model that ships with the package."""
        self._extractor = open_extractor(Path(model) if model is not None else None)
        self._knowledge: Knowledge = knowledge_of(self._extractor)
        self._known = ClassSet(self._extractor.fingerprint, ())
        self._seed = seed
        self.classes_ = ()
        self.localizations_ = []

    def fit(self, images: Sequence[Picture], tags: Sequence[Collection[str]]) -> Self:
        """Learn every tag from the photos that have it, two at least; five to ten work well.

        ``tags[i]`` are the things in ``images[i]``. What was learned before is forgotten; see ``add``.
        """
        return self._learn(images, tags, ClassSet(self._extractor.fingerprint, ()))

    def add(self, images: Sequence[Picture], tags: Sequence[Collection[str]]) -> Self:
        """Learn more tags, which must be new; what is known already stays as it is."""
        return self._learn(images, tags, self._known)

    def detect(self, image: Picture, *, min_score: float = 0.5) -> Detections:
        """Everything known in one photo with at least this score, the surest first; often nothing."""
        return detect_classes(self._bag(image, "query"), self._known, self._knowledge, min_score)

    def save(self, path: str | Path) -> None:
        """Write what is known to a class file of a few kilobytes."""
        save_classes(Path(path), self._known)

    @classmethod
    def load(cls, path: str | Path, model: str | Path | None = None) -> Self:
        """The detector that was saved; the model must be the one it was made with."""
        detector = cls(model)
        known = load_classes(Path(path))
        require_extractor(known, detector._extractor.fingerprint, str(path))
        detector._known, detector.classes_ = known, known.labels
        return detector

    def _learn(self, images: Sequence[Picture], tags: Sequence[Collection[str]], before: ClassSet) -> Self:
        """Learn all tags or, if anything is wrong, none."""
        names = _photos_to_learn_from(images, tags)
        require_new(names, before, "the detector")
        bags = [self._bag(image, str(place)) for place, image in enumerate(images)]
        learned = [
            learn_class(tag, [bags[place] for place in places], self._knowledge, self._seed)
            for tag, places in names.items()
        ]
        self._known = merge_classes([before, ClassSet.of(self._extractor.fingerprint, learned)])
        self.classes_ = self._known.labels
        self.localizations_ = _by_photo(learned, names, len(images))
        return self

    def _bag(self, image: Picture, name: str) -> ProposalBag:
        return self._extractor.extract(Path(image) if isinstance(image, str) else image, name).bag


def _photos_to_learn_from(images: Sequence[Picture], tags: Sequence[Collection[str]]) -> dict[str, list[int]]:
    """Tag → places of the photos that have it; refused if a tag has one photo, or no photo has a tag."""
    words = _checked_tags(images, tags)
    names, too_few = photos_by_tag({str(place): tag_set for place, tag_set in enumerate(words)})
    if too_few or not names:
        raise TooFewImagesError(
            f"only one photo shows {too_few[0]!r}." if too_few else f"none of the {len(images)} photos has a tag.",
            "at least two photos of each tag",
            "add photos.",
        )
    return {tag: [int(name) for name in photos] for tag, photos in names.items()}


def _checked_tags(images: Sequence[Picture], tags: Sequence[Collection[str]]) -> list[list[str]]:
    if len(images) != len(tags):
        raise ShapeError(
            f"there are {len(images)} photos and {len(tags)} sets of tags.", "tags for every photo", "pass as many."
        )
    for place, words in enumerate(tags):
        require_tag_set(str(place), words)
        for word in words:
            require_label(word)
    return [sorted(set(words)) for words in tags]


def _by_photo(learned: Sequence[LearnedClass], names: dict[str, list[int]], photos: int) -> list[dict[str, FoundBox]]:
    found: list[dict[str, FoundBox]] = [{} for _ in range(photos)]
    for one in learned:
        for place, photo in enumerate(names[one.label]):
            found[photo][one.label] = one.box(place)
    return found
