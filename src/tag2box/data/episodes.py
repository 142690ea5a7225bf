"""Sampling of few-shot tasks from a pool of tagged images (docs/method.md, section 10).

Episode i of a seed depends on nothing but the pool, the settings, the seed and i: any slice can be drawn anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

from tag2box.arrays import require_number
from tag2box.data.dataset import Dataset
from tag2box.data.draws import Draws
from tag2box.errors import NoImagesOfClassError, PoolTooSmallError, ShapeError
from tag2box.types import Episode, TaggedImage, require_tag_set

Tags = Mapping[str, Collection[str]]
"""Image id → the classes that the image shows."""

ClassDraw = Callable[["EpisodePool", int, Draws], "DrawnClasses"]
"""Draws so many different classes from a pool."""


@final
@dataclass(frozen=True)
class EpisodePool:
    """Images by class, in an order that does not depend on how they came."""

    tags: Tags
    ids: tuple[str, ...]
    classes: tuple[str, ...]
    images: Mapping[str, tuple[str, ...]]
    """Class → ids of the images that show it."""
    objects: Mapping[str, tuple[str, ...]]
    """Image id → the class of each object to be found in it, for draws that count objects."""

    @classmethod
    def build(
        cls, tags: Tags, classes: Collection[str] | None = None, objects: Mapping[str, Sequence[str]] | None = None
    ) -> EpisodePool:
        """A pool of all images; only ``classes`` (by default all that occur) become targets.

        Without ``objects``, an image counts as having one object of each of its classes.
        """
        for image, labels in tags.items():
            require_tag_set(image, labels)
        wanted = tuple(sorted(set(classes) if classes is not None else {c for labels in tags.values() for c in labels}))
        ids = tuple(sorted(tags))
        images = {label: tuple(image for image in ids if label in tags[image]) for label in wanted}
        for label in wanted:
            if not images[label]:
                raise NoImagesOfClassError(
                    f"class {label!r} has no image in the pool of {len(ids)}.",
                    "at least one image of every target class",
                    "check the spelling of the class, or leave it out.",
                )
        shown: Mapping[str, Collection[str]] = objects if objects is not None else tags
        targets = {image: tuple(sorted(label for label in shown[image] if label in images)) for image in ids}
        return cls(tags, ids, wanted, images, targets)


def pool_of(dataset: Dataset, least: int) -> EpisodePool:
    """The tagged images of a dataset; classes with fewer than ``least`` of them are not asked for."""
    tags = {image.image_id: image.tags for image in dataset.images if image.tags}
    images = {label: sum(label in labels for labels in tags.values()) for label in dataset.classes}
    enough = [label for label in dataset.classes if images[label] >= least]
    return EpisodePool.build(tags, enough, {image.image_id: image.objects for image in dataset.images})


class DrawnClasses(NamedTuple):
    """Classes of a task, and images that its support must have."""

    classes: list[str]
    images: list[str]


def classes_by_images(pool: EpisodePool, count: int, draws: Draws) -> DrawnClasses:
    """Classes in proportion to their number of images, as in the paper's tables."""
    remaining, chosen = list(pool.classes), []
    for _ in range(count):
        place = draws.below(sum(len(pool.images[label]) for label in remaining))
        for label in remaining:  # the class that owns the place-th (image, class) pair
            place -= len(pool.images[label])
            if place < 0:
                break
        chosen.append(label)
        remaining.remove(label)
    return DrawnClasses(chosen, [])


def classes_uniformly(pool: EpisodePool, count: int, draws: Draws) -> DrawnClasses:
    """Every class with the same chance."""
    return DrawnClasses(draws.sample(pool.classes, count), [])


def class_of_an_object(pool: EpisodePool, count: int, draws: Draws) -> DrawnClasses:
    """The class of any object of any image, with that image: how common object localization is usually compared."""
    if count != 1:
        raise ShapeError(f"{count} classes were to be drawn by an object.", "one", "draw by images, or uniformly.")
    images = [image for image, objects in pool.objects.items() if objects]
    image = images[draws.below(len(images))]
    return DrawnClasses(draws.sample(pool.objects[image], 1), [image])


@final
@dataclass(frozen=True)
class EpisodeSampler:
    """N-way K-shot tasks with images that may show several of the classes."""

    pool: EpisodePool
    ways: int
    shots: int
    seed: int
    negatives: int = 0
    """Images without any target class, for methods that need some."""
    queries: int = 1
    """Query images for each class."""
    draw_classes: ClassDraw = classes_by_images

    def __post_init__(self) -> None:
        for name in ("ways", "shots"):
            require_number(name, getattr(self, name), at_least=1)
        for name in ("negatives", "queries"):
            require_number(name, getattr(self, name), at_least=0)
        if self.ways > len(self.pool.classes):
            raise PoolTooSmallError(
                f"{self.ways}-way episodes were asked for from a pool of {len(self.pool.classes)} classes.",
                f"at most {len(self.pool.classes)} ways",
                "ask for fewer ways or add classes.",
            )
        for label, images in self.pool.images.items():
            self._require(label, self.shots + self.queries, len(images), len(images))

    def episode(self, index: int) -> Episode:
        """The task at ``index`` of this seed's sequence."""
        draws = Draws(self.seed, index)
        classes, given = self.draw_classes(self.pool, self.ways, draws)
        taken = list(given)
        for place, label in enumerate(classes):
            more = self.shots - len(given[place : place + 1])
            taken += self._draw(label, self.pool.images[label], more, taken, draws)
        asked: list[str] = []
        for label in classes:
            asked += self._draw(label, self.pool.images[label], self.queries, taken + asked, draws)
        others = [i for i in self.pool.ids if not set(classes) & set(self.pool.tags[i])] if self.negatives else []
        negatives = self._draw("(none of the targets)", others, self.negatives, [], draws)
        support = tuple(TaggedImage(image, self._targets(image, classes)) for image in taken)
        return Episode(self.seed, index, tuple(classes), support, tuple(negatives), tuple(asked))

    def episodes(self, count: int) -> list[Episode]:
        """The first ``count`` tasks."""
        return [self.episode(index) for index in range(count)]

    def _targets(self, image: str, classes: Sequence[str]) -> tuple[str, ...]:
        return tuple(label for label in classes if label in self.pool.tags[image])

    def _draw(self, label: str, images: Sequence[str], count: int, taken: Collection[str], draws: Draws) -> list[str]:
        used = set(taken)
        free = [image for image in images if image not in used]
        self._require(label, count, len(free), len(images))
        return draws.sample(free, count)

    def _require(self, label: str, wanted: int, free: int, images: int) -> None:
        if free < wanted:
            raise PoolTooSmallError(
                f"class {label!r}: {wanted} images are needed, {free} of its {images} are free.",
                f"at least {self.shots + self.queries} images of every class, more if images show several classes",
                "ask for fewer shots, queries or negatives, or leave the class out.",
            )
