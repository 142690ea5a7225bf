"""The whole product in Python: photos and tags in, boxes and a detector out."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, final, overload

from PIL import Image

from tag2box.data.formats.coco_results import FOUND
from tag2box.data.labelled import FoundBox
from tag2box.data.tags import clean_tags
from tag2box.errors import ClassFileError, RunError, ShapeError
from tag2box.extract import Extracted
from tag2box.files import now
from tag2box.model import Model
from tag2box.product.album import Album, Picture, opened
from tag2box.product.class_file import (
    ClassSet,
    load_classes,
    merge_classes,
    require_extractor,
    require_new,
    save_classes,
)
from tag2box.product.corrections import Shows, ShowsNot, Undo
from tag2box.product.detecting import Detector
from tag2box.product.doubts import Doubts
from tag2box.product.events import Advanced, Began, Ended, Listener, on_terminal
from tag2box.product.moving import MovedBox
from tag2box.product.showing import show_detected, show_tagged
from tag2box.product.taught import Taught, moved_boxes
from tag2box.product.verdicts import Verdict
from tag2box.store import as_stored
from tag2box.types import Detections, require_tag_set
from tag2box.viz import class_colours

Pictures = list[Picture] | tuple[Picture, ...]


@final
class FewShotDetector:
    """Learns to detect things from photos that are only tagged with what they show.

    >>> detector = FewShotDetector().fit(["a.jpg", "b.jpg"], [["mug"], ["mug", "pen"]])  # doctest: +SKIP
    >>> for found in detector.detect("desk.jpg"):  # doctest: +SKIP
    ...     print(found.label, found.score, found.box)

    After ``fit``, ``localizations_`` says where each thing is in the photos that were given, ``verdicts_`` how well
    each was found, and ``classes_`` what is known. Boxes are x0, y0, x1, y1 in pixels of the upright photo. A photo is
    a path, a Pillow image, or 8-bit pixels (height, width, 3) in RGB order. ``show`` draws a photo, ``doubts`` lists
    what a person should look at, and ``correct`` takes a person's word for it.
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
        self._taught: Taught | None = None
        self.classes_, self.localizations_, self.left_out_, self.verdicts_ = (), [], (), {}

    def __repr__(self) -> str:
        return f"<FewShotDetector of {', '.join(self.classes_) or 'nothing yet'}>"

    def fit(self, images: Sequence[Picture], tags: Sequence[Collection[str]]) -> Self:
        """Learn every tag from the photos that have it, two at least; five to ten work well.

        ``tags[i]`` are the things in ``images[i]``. What was learned before is forgotten; see ``add``. The regions of
        the photos stay in memory (about 300 kB each), so that they need not be looked at again after a correction.
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
        self._require_classes()
        if isinstance(image, list | tuple):
            return [self._detector.detect(each.bag, min_score) for each in self._look(image)]
        (seen,) = self._look([image])
        return self._detector.detect(seen.bag, min_score)

    def show(self, photo: Picture | int, *, below: bool = False) -> Image.Image:
        """The photo with what was found in it, as a Pillow image: notebooks show it, and ``save`` writes it.

        A photo of the last ``fit`` or ``add``, also by its place there, has the box of each tag and the doubt about it.
        Any other has what is detected, and with ``below`` also the surest of what is below its threshold, faint.
        """
        taught = self._taught
        colours = class_colours([*self.classes_, *(taught.labels if taught is not None else ())])
        if isinstance(photo, int) or (taught is not None and taught.album.places_of(photo)):
            taught = self._tagged()
            return show_tagged(taught, taught.album.place_of(photo), colours)
        self._require_classes()
        (seen,) = self._look([photo])
        found = self._detector.detect(seen.bag, 0.0 if below else FOUND)
        return show_detected(opened(photo), seen.bag.size, found, colours)

    def doubts(self) -> Doubts:
        """Every box of the photos of the last ``fit`` or ``add``, sorted by what needs a person."""
        taught = self._tagged()
        return Doubts.of(taught.found, taught.album)

    def correct(
        self,
        photo: Picture | int,
        label: str,
        box: Sequence[float] | None = None,
        *,
        point: Sequence[float] | None = None,
        absent: bool = False,
    ) -> list[MovedBox]:
        """Take a person's word: the thing is in this box (x0, y0, x1, y1), or around this point (x, y), or not there.

        The photo is one of the last ``fit`` or ``add``. What the word changes is learned again, and the word itself
        is never overwritten; for a photo and a tag the last one counts. What is returned are other boxes that moved.
        """
        taught = self._tagged()
        what = taught.word(photo, label, box, point, absent)
        return self._follow(taught, taught.told(what, self._listen), what)

    def undo(self) -> list[MovedBox]:
        """As if the last correction that still counts had never been said; what moved by that."""
        taught = self._tagged()
        number, what = taught.last_word()
        return self._follow(taught, taught.told(Undo(number), self._listen), what)

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
        seen = self._look(images)
        self._adopt(Taught.by(Album(images), words, seen, self._model, self._listen), before, before)
        return self

    def _follow(self, before: Taught, after: Taught, what: Shows | ShowsNot) -> list[MovedBox]:
        """Know what a correction taught; other classes stay, and so does what was said of thresholds."""
        known = self._detector.known
        self._adopt(after, known.without(before.found.classes), known, before.found.left_out)
        return moved_boxes(before, after, what)

    def _adopt(self, taught: Taught, others: ClassSet, old: ClassSet, alone_before: Collection[str] = ()) -> None:
        """Know what was taught, and the others, with the scores of old; say which tags are newly left out."""
        found = taught.found
        learned = found.known(self._model.fingerprint, now()).with_scores_of(old)
        self._know(merge_classes([others, learned]))
        self._taught, self.localizations_ = taught, taught.boxes
        self.left_out_, self.verdicts_ = found.left_out, found.verdicts()
        alone = ", ".join(repr(label) for label in found.left_out if label not in alone_before)
        if alone:
            warnings.warn(f"left out, because one photo alone shows it: {alone}", stacklevel=4)

    def _require_classes(self) -> None:
        if not self.classes_:
            raise ClassFileError(
                "the detector knows nothing yet.", "something to look for", "call fit, or load a class file."
            )

    def _tagged(self) -> Taught:
        """What it was taught with."""
        if self._taught is None:
            raise RunError(
                "the detector has no tagged photos in memory.",
                "photos that it has learned from; a class file has none",
                "call fit or add first.",
            )
        return self._taught

    def _look(self, images: Sequence[Picture]) -> list[Extracted]:
        """Photos with their regions, rounded as a store rounds them: so that commands find the same."""
        self._listen(Began("extract", len(images)))
        seen = []
        for place, image in enumerate(images, 1):
            picture = Path(image) if isinstance(image, str) else image
            extracted = self._model.extractor.extract(picture, str(place))
            seen.append(replace(extracted, bag=as_stored(extracted.bag)))
            self._listen(Advanced("extract", place, len(images)))
        self._listen(Ended("extract"))
        return seen


def _checked_tags(images: Sequence[Picture], tags: Sequence[Collection[str]]) -> dict[str, frozenset[str]]:
    """Place of a photo → its tags, by the law that all commands have for them."""
    if len(images) != len(tags):
        raise ShapeError(
            f"there are {len(images)} photos and {len(tags)} sets of tags.", "tags for every photo", "pass as many."
        )
    for place, words in enumerate(tags):
        require_tag_set(str(place), words)
    return {str(place): clean_tags(words, f"photo {place}") for place, words in enumerate(tags)}
