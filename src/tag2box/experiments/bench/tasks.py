"""A method on one task: what it finds in support and query images, and how right that is.

n = regions of a bag
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from tag2box.data import Dataset
from tag2box.evaluation import Matcher, Matches, Verdict, is_correct, judge_box, pooled_matches
from tag2box.methods.detectors import ranked_regions
from tag2box.methods.learners import ClassesLearner, LearnedObject, ObjectLearner
from tag2box.store import FeatureStore
from tag2box.types import Detections, Episode, ProposalBag, TaggedImage, Truth


@final
@dataclass(frozen=True, eq=False)
class Pool:
    """Bags and truths by image id."""

    bag: Callable[[str], ProposalBag]
    truths: Mapping[str, Truth]

    @classmethod
    def of(cls, store: FeatureStore, dataset: Dataset) -> Self:
        """The images of a dataset with their bags."""
        return cls(store.bag, {image.image_id: image.truth for image in dataset.images})


@final
@dataclass(frozen=True, eq=False)
class Trial:
    """What a method made of one class of one task."""

    task: int
    label: str
    support: tuple[bool, ...]
    """Whether the chosen region of each support image is right"""
    query: tuple[Verdict, ...]
    """What the best region of the query image of the class shows; empty if there is no query"""
    matches: Matches
    """Verdicts on its detections in all query images of the task"""


def try_method(learner: ObjectLearner, episode: Episode, pool: Pool, matcher: Matcher) -> list[Trial]:
    """One trial for each class of the task; every class is looked for in every query image."""
    learned = learn_task(learner, episode, pool)
    return [_judge(learned[label], episode, number, pool, matcher) for number, label in enumerate(episode.classes)]


def learn_task(learner: ObjectLearner, episode: Episode, pool: Pool) -> Mapping[str, LearnedObject]:
    """What a method learns of each class: one by one, or all together if it can."""
    images = [*episode.support, *(TaggedImage(image, ()) for image in episode.negatives)]
    bags = [pool.bag(image.image_id) for image in images]
    if isinstance(learner, ClassesLearner):
        rng = np.random.default_rng([episode.seed, episode.index])
        return learner.learn_classes(bags, [image.tags for image in images], episode.classes, rng)
    learned = {}
    for number, label in enumerate(episode.classes):
        shown = [bag for bag, image in zip(bags, images, strict=True) if label in image.tags]
        absent = [bag for bag, image in zip(bags, images, strict=True) if label not in image.tags]
        learned[label] = learner.learn(shown, absent, np.random.default_rng([episode.seed, episode.index, number]))
    return learned


def _judge(learned: LearnedObject, episode: Episode, number: int, pool: Pool, matcher: Matcher) -> Trial:
    label = episode.classes[number]
    support = tuple(
        is_correct(pool.bag(image).boxes[row], pool.truths[image], label)
        for image, row in zip(episode.positives(label), learned.localization.rows, strict=True)
    )
    found = {image: _detect(learned, pool.bag(image), label) for image in episode.queries}
    pairs = [(found[image], pool.truths[image]) for image in episode.queries]
    query = tuple(
        judge_box(found[own].boxes[0], pool.bag(own).boxes, pool.truths[own], label)
        for own in episode.queries[number : number + 1]
    )
    return Trial(episode.index, label, support, query, pooled_matches(pairs, label, matcher))


def _detect(learned: LearnedObject, bag: ProposalBag, label: str) -> Detections:
    return ranked_regions(bag, learned.score(bag), label)
