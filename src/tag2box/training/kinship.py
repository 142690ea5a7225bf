"""Learning axes along which regions of one kind of thing are alike, and all else is not (docs/method.md, section 4).

n = regions of a photo, N = regions of a task, p = photos of a task, d = feature dimension, k = axes
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self, final

import numpy as np

from tag2box.arrays import Array, Float32s, log_odds
from tag2box.boxes import box_overlaps
from tag2box.data import Dataset
from tag2box.methods.spread import Spread
from tag2box.progress import Report, silent
from tag2box.rows import Rows, from_center, product
from tag2box.store import FeatureStore

NO_CREDIT, FULL_CREDIT = 0.4, 0.8
"""Overlap with the thing up to which a region is not it, and from which on it is."""
CERTAIN = 1e-4
"""Objectness that is closer to 0 or 1 counts as this close."""
TINY = 1e-9
FIRST_KAPPA = 24.0
REPORTED = 10
"""Every so many steps are told."""
MOMENTUM, MEMORY = 0.9, 0.999
"""How long slopes, and their squares, are remembered."""
WARM_UP = 50
"""Steps in which the rate rises; then it falls to nothing."""


@final
@dataclass(frozen=True)
class KinshipRecipe:
    """How the axes are learned."""

    axes: int = 256
    steps: int = 400
    tasks: int = 10
    """In each step"""
    photos: int = 6
    """Of a task: each is asked for what the others show"""
    rate: float = 0.005
    """Of a step, in deviations of the first axes"""
    seed: int = 0


KINSHIP = KinshipRecipe()
"""As models are made."""


class Asked(NamedTuple):
    """A photo of a task."""

    rows: Rows
    """(n, d), from the mean of base features"""
    odds: Array
    """(n,), log odds of objectness"""
    credit: Array
    """(n,), between 0 and 1: how much a region is the thing"""


class Point(NamedTuple):
    """What is learned, or the slopes of the loss along it."""

    axes: Rows
    """(d, k)"""
    scales: Rows
    """(2,): log κ, and the weight of objectness"""


def kinship_loss(photos: Sequence[Asked], at: Point) -> tuple[float, Point]:
    """Mean loss (4.6) of asking each photo for what the others show, and its slopes."""
    kappa, weight = float(np.exp(at.scales[0])), float(at.scales[1])
    rows = np.concatenate([photo.rows for photo in photos])  # (N, d)
    ends = np.cumsum([0, *(len(photo.rows) for photo in photos)]).tolist()
    parts = [slice(*both) for both in pairwise(ends)]
    moved = product(rows, at.axes)  # (N, k)
    lengths = _lengths(moved)
    seen = moved / lengths
    shares = [(photo.credit / photo.credit.sum()).astype(seen.dtype) for photo in photos]
    means = np.stack([share @ seen[part] for share, part in zip(shares, parts, strict=True)])  # (p, k)
    others = means.sum(axis=0) - means
    thetas = others / _lengths(others)
    loss, along = 0.0, np.zeros(2)
    slopes, turned = np.empty_like(seen), np.empty_like(thetas)  # along what is seen, and along the thetas
    for photo, part, theta, turn in zip(photos, parts, thetas, turned, strict=True):
        cosines = (seen[part] @ theta).astype(np.float64)  # (n,)
        logits = kappa * cosines + weight * photo.odds
        credit = photo.credit + TINY
        chances = _softmax(logits)
        excess = chances - _softmax(logits + np.log(credit))
        loss -= float(np.log(chances @ credit))
        along += kappa * (excess @ cosines), excess @ photo.odds
        pull = (kappa * excess).astype(seen.dtype)
        turn[:] = pull @ seen[part]
        slopes[part] = pull[:, None] * theta
    turned = _across(turned, thetas) / _lengths(others)
    for share, part, turn in zip(shares, parts, turned, strict=True):
        slopes[part] += share[:, None] * (turned.sum(axis=0) - turn)
    slopes = _across(slopes, seen) / lengths
    return loss / len(photos), Point(product(rows.T, slopes) / len(photos), along / len(photos))


def _softmax(logits: Array) -> Array:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def _lengths(rows: Rows) -> Rows:
    """(n, 1), never 0."""
    return np.maximum(np.sqrt(np.einsum("nk,nk->n", rows, rows)), TINY)[:, None]


def _across(slopes: Rows, units: Rows) -> Rows:
    """(n, k) what of the slopes turns unit rows, and does not stretch them."""
    return slopes - units * np.einsum("nk,nk->n", slopes, units)[:, None]


class Lesson(NamedTuple):
    """A base photo, and which of its regions are a thing."""

    store: FeatureStore
    image_id: str
    credit: Float32s
    """(n,)"""

    def asked(self, center: Array | None, mean: Array) -> Asked:
        """The photo as a task has it."""
        bag = self.store.bag(self.image_id)
        rows = bag.features if center is None else from_center(bag.features, center)[0]
        odds = log_odds(bag.objectness.astype(np.float64), CERTAIN)
        return Asked(rows - mean.astype(np.float32), odds, self.credit.astype(np.float64))


@final
@dataclass(frozen=True)
class Lessons:
    """Base photos by what they show."""

    photos: Mapping[str, Sequence[Lesson]]

    @classmethod
    def of(
        cls, stores: Sequence[FeatureStore], datasets: Sequence[Dataset], base: Collection[str], enough: int
    ) -> Self:
        """Of the photos in the stores; a class that is found in fewer than ``enough`` teaches nothing."""
        photos: dict[str, list[Lesson]] = {}
        for image in (image for dataset in datasets for image in dataset.only(base).images):
            for store in (store for store in stores if image.image_id in store):
                boxes = store.bag(image.image_id).boxes
                for label in sorted(image.tags):
                    overlaps = box_overlaps(boxes, image.truth.of_class(label).boxes).max(axis=1)  # (n,)
                    credit = np.clip((overlaps - NO_CREDIT) / (FULL_CREDIT - NO_CREDIT), 0.0, 1.0)
                    if credit.any():
                        photos.setdefault(label, []).append(Lesson(store, image.image_id, credit.astype(np.float32)))
        return cls({label: lessons for label, lessons in sorted(photos.items()) if len(lessons) >= enough})

    def draw(self, photos: int, rng: np.random.Generator) -> list[Lesson]:
        """So many photos of one class."""
        lessons = list(self.photos.values())[rng.integers(len(self.photos))]
        return [lessons[place] for place in rng.choice(len(lessons), photos, replace=False)]


class Climber:
    """Goes down a slope by steps that suit each entry (Adam)."""

    def __init__(self, at: Point, rates: tuple[float, float]) -> None:
        self.at = at
        self._rates = rates
        self._slopes, self._squares = ([np.zeros_like(values) for values in at] for _ in range(2))
        self._steps = 0

    def step(self, slopes: Point, pace: float) -> None:
        """One step, of ``pace`` times the rates."""
        self._steps += 1
        moved = []
        for values, slope, rate, mean, square in zip(
            self.at, slopes, self._rates, self._slopes, self._squares, strict=True
        ):
            mean += (1.0 - MOMENTUM) * (slope - mean)
            square += (1.0 - MEMORY) * (slope**2 - square)
            size = np.sqrt(square / (1.0 - MEMORY**self._steps)) + TINY
            moved.append(values - rate * pace * (mean / (1.0 - MOMENTUM**self._steps) / size).astype(values.dtype))
        self.at = Point(*moved)


def learn_kinship(
    lessons: Lessons, center: Array | None, spread: Spread, recipe: KinshipRecipe, report: Report = silent
) -> Array:
    """(d, k) axes: the loudest of whitened features, then better ones by tasks of base classes, if there are any."""
    rng, start = np.random.default_rng(recipe.seed), spread.loudest(recipe.axes).astype(np.float32)
    if not lessons.photos:
        return start.astype(np.float64)
    rate = recipe.rate * float(np.sqrt(np.mean(start**2)))
    climber = Climber(Point(start, np.array([np.log(FIRST_KAPPA), 1.0])), (rate, recipe.rate))
    for step in range(1, recipe.steps + 1):
        drawn = [lessons.draw(recipe.photos, rng) for _ in range(recipe.tasks)]
        told = [kinship_loss([one.asked(center, spread.mean) for one in task], climber.at) for task in drawn]
        slopes = Point(*(sum(each) / len(told) for each in zip(*(slope for _, slope in told), strict=True)))
        climber.step(slopes, min(1.0, step / WARM_UP) * 0.5 * (1.0 + np.cos(np.pi * step / recipe.steps)))
        if step % REPORTED == 0 or step == recipe.steps:
            report(step, {"loss": float(np.mean([loss for loss, _ in told]))})
    return climber.at.axes.astype(np.float64)
