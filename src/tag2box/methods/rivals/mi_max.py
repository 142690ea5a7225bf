"""MI-max: a linear classifier of each image's best region, by gradient steps (docs/method.md, section 16).

B = images, n = regions of all images, d = feature dimension, S = starts
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from tag2box.arrays import Array, Float32s, Ints, require_number
from tag2box.errors import TooFewImagesError
from tag2box.methods.floors import RegionScore
from tag2box.methods.view import center_bag
from tag2box.rows import product
from tag2box.types import Localization, ProposalBag

LEAST_OBJECTNESS = 0.01


@final
@dataclass(frozen=True, eq=False)
class MiMax:
    """Several starts, and the one that tells the images apart best, (16.3)."""

    objectness: RegionScore
    """Between 0 and 1: what a region's score counts"""
    cost: float = 1.0
    """Of the classifier's length"""
    center: Array | None = None
    """(d,), mean of the base features; None leaves features as they are"""
    starts: int = 12
    steps: int = 60
    rate: float = 0.5
    """Steps as long as they may be where the cost is 1: shorter ones end at a loss that is lower by 0.01 at the most"""

    def __post_init__(self) -> None:
        require_number("cost", self.cost, at_least=0.0)
        for name in ("starts", "steps"):
            require_number(name, getattr(self, name), at_least=1)
        require_number("rate", self.rate, above=0.0)

    def learn(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> MiMaxFit:
        """The classifier under which the best regions of both sides are furthest apart."""
        if not positives or not negatives:
            raise TooFewImagesError(
                f"MI-max was given {len(positives)} images that show the thing and {len(negatives)} that do not.",
                "at least one of each",
                "add photos without the thing; vMF-MIL needs none.",
            )
        bags = [*positives, *negatives]
        rows = np.concatenate([center_bag(bag, self.center).features for bag in bags])  # (n, d)
        factors = np.concatenate([self.factor(bag) for bag in bags]).astype(np.float32)  # (n,)
        first = np.cumsum([0, *(len(bag) for bag in bags)])
        signs = np.repeat([1.0 / len(positives), -1.0 / len(negatives)], [len(positives), len(negatives)])
        weights, biases = self._descend(rows, factors, first, signs, rng)
        best = int(self._losses(rows, factors, first, signs, weights, biases).argmin())
        learned = MiMaxFit(self, weights[:, best].astype(np.float64), float(biases[best]), Localization.of_best([]))
        found = Localization.of_best([learned.score(bag) for bag in positives])
        return MiMaxFit(self, learned.weights, learned.bias, found)

    def factor(self, bag: ProposalBag) -> Array:
        """(n,) what the score of each region counts."""
        return self.objectness(bag) + LEAST_OBJECTNESS

    def _descend(
        self, rows: Float32s, factors: Float32s, first: Ints, signs: Array, rng: np.random.Generator
    ) -> tuple[Float32s, Float32s]:
        """(d, S) and (S,): where the steps end, from every start."""
        weights = rng.standard_normal((rows.shape[1], self.starts)).astype(np.float32)
        biases = rng.standard_normal(self.starts).astype(np.float32)
        images, starts = np.arange(len(signs)), np.arange(self.starts)
        for _ in range(self.steps):
            scores = (product(rows, weights) + biases) * factors[:, None]  # (n, S)
            best = np.stack([scores[a:b].argmax(axis=0) + a for a, b in pairwise(first)])  # (B, S)
            slopes = signs[:, None] * (1.0 - np.tanh(scores[best, starts]) ** 2) * factors[best]  # (B, S)
            gradient = np.stack([slopes[:, start] @ rows[best[:, start]] for start in starts], axis=1)
            weights += self.rate * (gradient - 2.0 * self.cost * weights).astype(np.float32)
            biases += self.rate * slopes[images].sum(axis=0).astype(np.float32)
        return weights, biases

    def _losses(
        self, rows: Float32s, factors: Float32s, first: Ints, signs: Array, weights: Float32s, biases: Float32s
    ) -> Array:
        """(S,), (16.3)."""
        scores = (product(rows, weights) + biases) * factors[:, None]
        best = np.stack([scores[a:b].max(axis=0) for a, b in pairwise(first)])  # (B, S)
        return -(signs[:, None] * np.tanh(best)).sum(axis=0) + self.cost * (weights**2).sum(axis=0)


@final
@dataclass(frozen=True, eq=False)
class MiMaxFit:
    """A linear classifier of regions."""

    learner: MiMax
    weights: Array
    """(d,)"""
    bias: float
    localization: Localization

    def score(self, bag: ProposalBag) -> Array:
        """(n,), each by what it counts."""
        seen = center_bag(bag, self.learner.center).directions
        return self.learner.factor(bag) * (seen.along(self.weights) + self.bias)
