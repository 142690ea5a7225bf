"""The whole product in Python: photos and tags in, boxes and a detector out."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Self, final, overload

from tag2box.data.formats.coco_results import FOUND
from tag2box.data.labelled import FoundBox
from tag2box.data.tags import clean_tags
from tag2box.errors import ClassFileError, ShapeError
from tag2box.extract.extractor import Picture as Opened
from tag2box.files import now
from tag2box.model import Model
from tag2box.product.class_file import (
    ClassSet,
    load_classes,
    merge_classes,
    require_extractor,
    require_new,
    save_classes,
)
from tag2box.product.detecting import Detector
from tag2box.product.events import Advanced, Began, Ended, Listener, on_terminal
from tag2box.product.finding import Found, find_classes
from tag2box.product.verdicts import Verdict
from tag2box.store import as_stored
from tag2box.types import Detections, ProposalBag, require_tag_set

Picture = str | Opened
"""A file, a Pillow image, or 8-bit pixels (height, width, 3) in RGB order."""
Pictures = list[Picture] | tuple[Picture, ...]


@final
class FewShotDetector:
    """Learns to detect things from photos that are only tagged with what they show.

    >>> detector = FewShotDetector().fit(["a.jpg", "b.jpg"], [["mug"], ["mug", "pen"]])  # doctest: +SKIP
    >>> for found in detector.detect("desk.jpg"):  # doctest: +SKIP
    ...     print(found.label, found.score, found.box)

    After ``fit``, ``localizations_`` says where each thing is in the photos that were given, ``verdicts_`` how well
    each was found, and ``classes_`` what is known. Boxes are x0, y0, x1, y1 in pixels of the upright photo. A photo is
    a path, a Pillow image, or 8-bit pixels (height, width, 3) in RGB order.
    """

    classes_: tuple[str, ...]
    """What it can detect"""
    localizations_: list[dict[str, FoundBox]]
    """For each photo that ``fit`` was given: tag → box, with its score and the doubt about it"""
    left_out_: tuple[str, ...]
    """Tags that one photo alone has: nothing can be common to one"""
    verdicts_: dict[str, Verdict]
    """How each class that ``fit`` learned came out, in words"""

    def __init__(self, model: str | Path | None = None, *, listen: Listener | None = None) -> None:
        """Load a model's folder, or the model that ships; ``listen`` hears of progress, else a terminal shows it."""
        self._model = Model.open(Path(model) if model is not None else None)
        self._listen = listen if listen is not None else on_terminal()
        self._detector = Detector(ClassSet(self._model.fingerprint, ()), self._model)
        self.classes_, self.localizations_, self.left_out_, self.verdicts_ = (), [], (), {}

    def __repr__(self) -> str:
        return f"<FewShotDetector of {', '.join(self.classes_) or 'nothing yet'}>"

    def fit(self, images: Sequence[Picture], tags: Sequence[Collection[str]]) -> Self:
        """Learn every tag from the photos that have it, two at least; five to ten work well.

        ``tags[i]`` are the things in ``images[i]``. What was learned before is forgotten; see ``add``.
        """
        return self._learn(images, tags, ClassSet(self._model.fingerprint, ()))

    def add(self, images: Sequence[Picture], tags: Sequence[Collection[str]]) -> Self:
        """Learn more tags, which must be new; what is known already stays as it is."""
        return self._learn(images, tags, self._detector.known)

    @overload
    def detect(self, image: Picture, *, min_score: float = FOUND) -> Detections: ...

    @overload
    def detect(self, image: Pictures, *, min_score: float = FOUND) -> list[Detections]: ...

    def detect(self, image: Picture | Pictures, *, min_score: float = FOUND) -> Detections | list[Detections]:
        """Everything known in a photo with at least this score, the surest first; often nothing. Of several, a list."""
        if not self.classes_:
            raise ClassFileError(
                "the detector knows nothing yet.", "something to look for", "call fit, or load a class file."
            )
        if isinstance(image, list | tuple):
            return [self._detector.detect(bag, min_score) for bag in self._bags(image)]
        (bag,) = self._bags([image])
        return self._detector.detect(bag, min_score)

    def found_from(self, label: str, min_score: float) -> Self:
        """Let a class count as found from another score on; one half is as it was learned, and ``save`` keeps it."""
        self._know(self._detector.known.found_from(label, min_score))
        return self

    def save(self, path: str | Path) -> None:
        """Write what is known to a class file of a few kilobytes."""
        save_classes(Path(path), self._detector.known)

    @classmethod
    def load(cls, path: str | Path, model: str | Path | None = None, *, listen: Listener | None = None) -> Self:
        """The detector that was saved; the model must be the one it was made with."""
        detector = cls(model, listen=listen)
        known = load_classes(Path(path))
        require_extractor(known, detector._model.fingerprint, str(path))
        detector._know(known)
        return detector

    def _know(self, known: ClassSet) -> None:
        self._detector, self.classes_ = Detector(known, self._model), known.labels

    def _learn(self, images: Sequence[Picture], tags: Sequence[Collection[str]], before: ClassSet) -> Self:
        """Learn all tags or, if anything is wrong, none."""
        words = _checked_tags(images, tags)
        require_new({word for each in words.values() for word in each}, before, "the detector")
        bags = dict(zip(words, self._bags(images), strict=True))
        found = find_classes(words, MemoryBags(bags), self._model, self._listen)
        learned = found.known(self._model.fingerprint, now())
        self._know(merge_classes([before, learned]))
        self.localizations_, self.left_out_ = _by_photo(found, list(words)), found.left_out
        self.verdicts_ = found.verdicts()
        if found.left_out:
            alone = ", ".join(map(repr, found.left_out))
            warnings.warn(f"left out, because one photo alone shows it: {alone}", stacklevel=3)
        return self

    def _bags(self, images: Sequence[Picture]) -> list[ProposalBag]:
        """The regions of photos, rounded as a store rounds them: so that commands find the same."""
        self._listen(Began("extract", len(images)))
        bags = []
        for place, image in enumerate(images, 1):
            picture = Path(image) if isinstance(image, str) else image
            bags.append(as_stored(self._model.extractor.extract(picture, str(place)).bag))
            self._listen(Advanced("extract", place, len(images)))
        self._listen(Ended("extract"))
        return bags


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


def _checked_tags(images: Sequence[Picture], tags: Sequence[Collection[str]]) -> dict[str, frozenset[str]]:
    """Place of a photo → its tags, by the law that all commands have for them."""
    if len(images) != len(tags):
        raise ShapeError(
            f"there are {len(images)} photos and {len(tags)} sets of tags.", "tags for every photo", "pass as many."
        )
    for place, words in enumerate(tags):
        require_tag_set(str(place), words)
    return {str(place): clean_tags(words, f"photo {place}") for place, words in enumerate(tags)}


def _by_photo(found: Found, names: Sequence[str]) -> list[dict[str, FoundBox]]:
    boxes = found.boxes()
    return [{box.label: box for box in boxes[name]} for name in names]
