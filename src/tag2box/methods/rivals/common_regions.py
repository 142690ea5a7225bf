"""Regions that are alike in every two images, by a relation network and a search (docs/method.md, section 15).

n = regions of a bag, K = images, l = negative regions
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from tag2box.arrays import Array, Float32s, require_number
from tag2box.methods.floors import objectness_odds
from tag2box.methods.rivals.energies import Choice, Energy, Search
from tag2box.methods.rivals.greedy_tree import GreedyTree
from tag2box.methods.rivals.relations import Projected, RelationNetwork
from tag2box.rows import softmax
from tag2box.types import Localization, ProposalBag

HARDEST = 50
"""Regions of images without the thing that each region is compared with: those most like it."""


@final
@dataclass(frozen=True, eq=False)
class CommonRegions:
    """Learns by a choice of the lowest energy."""

    network: RelationNetwork
    search: Search = field(default_factory=GreedyTree)
    objectness_weight: float = 0.0
    """How much the detector's objectness speaks for a region, when regions are chosen and in new images"""
    negatives_weight: float = 0.0
    """How much likeness to images without the thing speaks against a region"""

    def __post_init__(self) -> None:
        require_number("objectness weight", self.objectness_weight, at_least=0.0)
        require_number("weight of negatives", self.negatives_weight, at_least=0.0)

    def learn(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> CommonRegionsFit:
        """The regions that are most alike; negatives count if they have a weight."""
        projected = [self.network.project(bag) for bag in positives]
        alone = [-self.guide(bag) for bag in positives]
        if self.negatives_weight and negatives:
            others = np.concatenate([bag.features for bag in negatives])
            for i, bag in enumerate(positives):
                alone[i] = alone[i] + self.negatives_weight * self._like_negatives(bag, others)
        choice = self.search(Energy.of_relations(self.network, projected, alone))
        chosen = [each.at(np.array([row])) for each, row in zip(projected, choice.rows, strict=True)]
        sure = [
            (np.arange(len(bag)) == row).astype(np.float64) for bag, row in zip(positives, choice.rows, strict=True)
        ]
        return CommonRegionsFit(self, choice, Localization.from_weights(sure, sure), tuple(chosen))

    def guide(self, bag: ProposalBag) -> Array:
        """(n,) what speaks for each region by itself."""
        return self.objectness_weight * objectness_odds(bag)

    def _like_negatives(self, bag: ProposalBag, others: Float32s) -> Array:
        """(n,) how alike each region is to the regions of other images that look most like it, (15.6)."""
        cosines = bag.features @ others.T  # (n, l)
        hardest = np.argpartition(-cosines, min(HARDEST, len(others)) - 1, axis=1)[:, :HARDEST]
        seen, against = self.network.project(bag), self.network.projected(others)
        scores = np.stack(
            [
                self.network.table(seen.at(np.array([row])), against.at(hardest[row]))[0].astype(np.float64)
                for row in range(len(bag))
            ]
        )
        return np.array([softmax(row)[0] @ row for row in scores])


@final
@dataclass(frozen=True, eq=False)
class CommonRegionsFit:
    """The regions that were chosen, which new ones are compared with."""

    learner: CommonRegions
    choice: Choice
    localization: Localization
    chosen: tuple[Projected, ...]
    """One region of each image"""

    def score(self, bag: ProposalBag) -> Array:
        """(n,) the sum of likenesses to all of them, each asked both ways round."""
        network, seen = self.learner.network, self.learner.network.project(bag)
        total = self.learner.guide(bag)
        for one in self.chosen:
            total = total + 0.5 * (network.table(one, seen)[0] + network.table(seen, one)[:, 0])
        return total
