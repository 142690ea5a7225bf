"""The door that everything comes through which learns a kind of thing from tagged images: ours, rivals, floors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from tag2box.arrays import Array
from tag2box.types import Localization, ProposalBag


class LearnedObject(Protocol):
    """What was learned: where the thing is in the support images, and how to find it in others."""

    @property
    def localization(self) -> Localization:
        """One region of each positive image."""
        ...

    def score(self, bag: ProposalBag) -> Array:
        """(n,) for each region of a new image, the higher the more it looks like the thing."""
        ...


class ObjectLearner(Protocol):
    """Learns a kind of thing from images that show it and images that do not."""

    def learn(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> LearnedObject:
        """Learn from at least two positive images; some learners need negative ones too."""
        ...


@runtime_checkable
class ClassesLearner(Protocol):
    """Learns several kinds of thing from the same images at once, where that is quicker than one after the other."""

    def learn_classes(
        self,
        bags: Sequence[ProposalBag],
        tags: Sequence[Collection[str]],
        classes: Sequence[str],
        rng: np.random.Generator,
    ) -> Mapping[str, LearnedObject]:
        """Learn every class from ``bags``, of which ``tags[i]`` says what image i shows."""
        ...


class Localizer(ObjectLearner, Protocol):
    """Picks, in each image of a support set, the region of the common object, in a space that others can use too."""

    @property
    def center(self) -> Array | None:
        """(d,) what it subtracts from all features first, so that a detector learns in the same space; or None."""
        ...
