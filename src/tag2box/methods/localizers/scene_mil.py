"""vMF-MIL that asks how alike the scenes of its photos are, before it believes that what they share is the thing.

Photos of one floor share the floor better than anything that lies on it. There, what is rare counts: in its own photo,
or among all of them. Photos of many places share nothing but the thing, and there other photos, without it, can tell
what it is not.

r = photos without the thing, C = classes, d = feature dimension. Equations: docs/method.md, section 5.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from tag2box.arrays import Array, log_odds, require_number
from tag2box.methods.localizers.backgrounds import Background, SummedBackground
from tag2box.methods.localizers.competition import learn_apart
from tag2box.methods.localizers.em import Solution
from tag2box.methods.localizers.foregrounds import VmfForeground
from tag2box.methods.localizers.leaning import LeaningBackground, lean
from tag2box.methods.localizers.photo_backgrounds import COMMON, RivalBackground, SharedBackground
from tag2box.methods.localizers.starts import NO_CLAMPS, Clamps, given
from tag2box.methods.localizers.vmf_mil import VmfMil
from tag2box.rows import Rows
from tag2box.types import ABSENT, WHOLE_IMAGE, ProposalBag, require_dimension

ALIKE_POWER, UNLIKE_POWER = 4, 3
"""How steeply commonness gains and rivals lose as scenes become alike, (5.9)."""
CERTAIN = 1e-4
"""Objectness that is closer to 0 or 1 counts as this close."""
ONE_SCENE = 0.5
"""Photos that are so alike show one scene."""
NEGLIGIBLE = 0.05
"""A smaller weight of rivals is not worth the time."""
ROUNDS = 2
"""How often the rivals are looked for again."""
LEANINGS = 3
"""How often the scores lean further, until known regions lead."""


@final
@dataclass(frozen=True, eq=False)
class SceneMil:
    """Finds what one region of every image shares, rare in its own image and missing in others."""

    vmf: VmfMil
    """With what is known of regions whatever the photos"""
    commonness_weight: float
    """Against what is common in its own photo, where all photos show one scene"""
    sharedness_weight: float
    """Against what all photos show, there too"""
    rivalry_weight: float
    """Against what other photos have too, where all photos show different scenes"""

    def __post_init__(self) -> None:
        require_number("commonness weight", self.commonness_weight)
        require_number("sharedness weight", self.sharedness_weight)
        require_number("rivalry weight", self.rivalry_weight)

    @property
    def center(self) -> Array | None:
        """(d,), mean of the base features."""
        return self.vmf.center

    def seen(self, bag: ProposalBag) -> ProposalBag:
        """A bag in the space that EM works in."""
        return self.vmf.seen(bag)

    def seen_rows(self, features: Rows) -> Rows:
        """(n, d) features of regions, as a bag has them, in the space that EM works in."""
        return self.vmf.seen_rows(features)

    def among_centered(self, directions: Array) -> Array:
        """(C, d) directions that were found, as they are among centred features."""
        return self.vmf.among_centered(directions)

    def from_centered(self, directions: Array) -> Array:
        """(C, d) directions among centred features, as they are in that space."""
        return self.vmf.from_centered(directions)

    def learn(
        self,
        positives: Sequence[ProposalBag],
        negatives: Sequence[ProposalBag],
        rng: np.random.Generator,
        clamps: Clamps = NO_CLAMPS,
    ) -> Solution[VmfForeground]:
        """The common object of the positives, which the negatives do not show."""
        (end,) = self.learn_ends(positives, negatives, rng, clamps, (0.0,))
        return end

    def learn_ends(
        self,
        positives: Sequence[ProposalBag],
        negatives: Sequence[ProposalBag],
        rng: np.random.Generator,
        clamps: Clamps,
        leads: Sequence[float],
    ) -> list[Solution[VmfForeground]]:
        """The same, once for each lead that known regions shall have over wrong ones in their photos; 0 asks for none.

        Where the photos show one scene, it is looked for twice, and the end with the more object-like regions counts.
        """
        present = [bag for place, bag in enumerate(positives) if place not in clamps.absent]
        likeness = scene_likeness(self, present)
        rivalry = self.rivalry_weight * (1.0 - likeness) ** UNLIKE_POWER
        against: list[tuple[float, Background]] = [(self.commonness_weight, COMMON)]
        if likeness >= ONE_SCENE:
            against.append((self.sharedness_weight, SharedBackground.of([self.seen(bag) for bag in present])))
        ends: list[list[Solution[VmfForeground]]] = [[] for _ in leads]
        for weight, background in against:
            common = _with(self.vmf, weight * likeness**ALIKE_POWER, background)
            first = common.solve(positives, rng, clamps)
            for lead, some in zip(leads, ends, strict=True):
                vmf, found = self._leaned(common, first, positives, rng, clamps, lead) if lead else (common, first)
                some.append(self._against_rivals(vmf, found, rivalry, positives, negatives, rng, clamps))
        return [max(some, key=lambda end: _objectness(end, positives)) for some in ends]

    def _against_rivals(
        self,
        vmf: VmfMil,
        found: Solution[VmfForeground],
        rivalry: float,
        positives: Sequence[ProposalBag],
        negatives: Sequence[ProposalBag],
        rng: np.random.Generator,
        clamps: Clamps,
    ) -> Solution[VmfForeground]:
        """Where EM goes on to from what was found, against the best of photos without the thing."""
        if rivalry < NEGLIGIBLE or not negatives:
            return found
        for _ in range(ROUNDS):
            rivals = RivalBackground(self._rivals(found, negatives))
            found = _go_on(found, _with(vmf, rivalry, rivals), positives, rng, clamps)
        return found

    def _leaned(
        self,
        vmf: VmfMil,
        found: Solution[VmfForeground],
        bags: Sequence[ProposalBag],
        rng: np.random.Generator,
        clamps: Clamps,
        lead: float,
    ) -> tuple[VmfMil, Solution[VmfForeground]]:
        """The method whose scores lean to known regions, and where it ends."""
        leaning, leaned = np.zeros(len(found.foreground.theta)), vmf
        for _ in range(LEANINGS):
            more = lean(found.score, self.seen, bags, clamps, lead)
            if more is None:
                break
            leaning = leaning + more
            leaned = _with(vmf, 1.0, LeaningBackground(leaning))
            found = _go_on(found, leaned, bags, rng, clamps)
        return leaned, found

    def learn_classes(
        self,
        bags: Sequence[ProposalBag],
        tags: Sequence[Collection[str]],
        classes: Sequence[str],
        rng: np.random.Generator,
    ) -> dict[str, Solution[VmfForeground]]:
        """Several classes of the same images, no two of them in the same place."""
        return learn_apart(self, bags, tags, classes, rng)

    def _rivals(self, found: Solution[VmfForeground], negatives: Sequence[ProposalBag]) -> Array:
        """(r, d), the region of each photo without the thing that passes for it best."""
        return np.concatenate([self.seen(bag).directions.at([int(found.score(bag).argmax())]) for bag in negatives])


def scene_likeness(localizer: VmfMil | SceneMil, bags: Sequence[ProposalBag]) -> float:
    """How alike whole photos are, (5.8): 0 if not at all, 1 if they are one photo; of a single one, 0."""
    if len(bags) < 2:
        return 0.0
    for bag in bags:
        require_dimension("first photo", bag, bags[0].dimension)
    wholes = localizer.seen_rows(np.concatenate([bag.directions.at([WHOLE_IMAGE]) for bag in bags]))  # (M, d)
    wholes = wholes.astype(np.float64)
    pairs = len(wholes) * (len(wholes) - 1)
    total = wholes.sum(axis=0)
    return float(np.clip((total @ total - len(wholes)) / pairs, 0.0, 1.0))


def _objectness(found: Solution[VmfForeground], bags: Sequence[ProposalBag]) -> float:
    """Mean log odds that the detector gives to the regions that were found."""
    rows = found.localization.rows.tolist()
    chosen = [bag.objectness[row] for bag, row in zip(bags, rows, strict=True) if row != ABSENT]
    return float(log_odds(np.array(chosen, dtype=np.float64), CERTAIN).mean())


def _go_on(
    found: Solution[VmfForeground], vmf: VmfMil, bags: Sequence[ProposalBag], rng: np.random.Generator, clamps: Clamps
) -> Solution[VmfForeground]:
    """Where ``vmf`` ends if it starts where something was found, with the steps until there."""
    again = replace(vmf, kappa=found.foreground.kappa, start=given(found.foreground.theta)).solve(bags, rng, clamps)
    return replace(again, run=replace(again.run, steps=found.steps + again.steps))


def _with(vmf: VmfMil, weight: float, background: Background) -> VmfMil:
    """The method with one more background."""
    return replace(vmf, background=SummedBackground(((1.0, vmf.background), (weight, background))))
