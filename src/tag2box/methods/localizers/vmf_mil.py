"""vMF-MIL: the common object as a direction (the paper's method).

M = images, n = regions of a bag, d = feature dimension, C = classes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import cast, final

import numpy as np

from tag2box.arrays import Array, frozen, require_number
from tag2box.errors import ShapeError
from tag2box.methods.localizers.backgrounds import Background
from tag2box.methods.localizers.em import Em, Solution, run_em, solve
from tag2box.methods.localizers.foregrounds import VmfForeground
from tag2box.methods.localizers.stack import BagStack
from tag2box.methods.localizers.starts import NO_CLAMPS, Clamps, Start, whole_images
from tag2box.methods.space import Space
from tag2box.methods.view import View
from tag2box.rows import Lens, Rows
from tag2box.sphere import KappaRule, direction_and_length
from tag2box.types import WHOLE_IMAGE, ProposalBag


@final
@dataclass(frozen=True, eq=False)
class VmfMil:
    """Finds the direction that one region of every image shares and the background lacks."""

    kappa: float | None
    """Concentration of the object's features; the first one, if a rule updates it.

    None starts at what the rule makes of the whole images, (6.6)."""
    background: Background
    background_weight: float = 1.0
    kappa_rule: KappaRule | None = None
    start: Start = whole_images
    center: Array | None = None
    """(d,), mean of the base features; None leaves features as they are."""
    space: Space | None = None
    """The space that EM works in, with the same centre; None for that of centred features"""
    max_steps: int = 20
    tol: float = 1e-7
    em: Em = run_em
    """What runs EM"""

    def __post_init__(self) -> None:
        if self.kappa is None and self.kappa_rule is None:
            raise ShapeError(
                "vMF-MIL was given neither kappa nor a rule for it.",
                "a concentration, or one of KAPPA_RULES, or both",
                "start with a kappa near the one of the background.",
            )
        if self.kappa is not None:
            require_number("kappa", self.kappa, above=0.0)
        require_number("background weight", self.background_weight)
        require_number("max_steps", self.max_steps, at_least=0)
        if self.center is not None:
            object.__setattr__(self, "center", frozen(self.center, np.float64))

    def learn(
        self,
        positives: Sequence[ProposalBag],
        negatives: Sequence[ProposalBag],
        rng: np.random.Generator,
        clamps: Clamps = NO_CLAMPS,
    ) -> Solution[VmfForeground]:
        """The common object of the positives; negatives are not used."""
        return self.solve(positives, rng, clamps)

    def learn_ends(
        self,
        positives: Sequence[ProposalBag],
        negatives: Sequence[ProposalBag],
        rng: np.random.Generator,
        clamps: Clamps,
        leads: Sequence[float],
    ) -> list[Solution[VmfForeground]]:
        """The same for every lead of known regions: its scores do not lean."""
        return [self.learn(positives, negatives, rng, clamps)] * len(leads)

    @cached_property
    def lens(self) -> Lens:
        """What EM sees features through."""
        return Lens(self.center) if self.space is None else self.space.lens

    def seen(self, bag: ProposalBag) -> ProposalBag:
        """A bag in the space that EM works in."""
        if self.space is not None:
            return self.space.bag(bag)
        return bag if self.center is None else bag.through(self.lens)

    def seen_rows(self, features: Rows) -> Rows:
        """(n, d) features of regions, as a bag has them, in the space that EM works in."""
        return self.lens.seen(features)[0]

    def among_centered(self, directions: Array) -> Array:
        """(C, d) directions of that space, as they are among centred features."""
        return directions if self.space is None else self.space.back(directions)

    def from_centered(self, directions: Array) -> Array:
        """(C, d) directions among centred features, as they are in that space."""
        return directions if self.space is None else self.space.forth(directions)

    def solve(
        self, bags: Sequence[ProposalBag], rng: np.random.Generator, clamps: Clamps = NO_CLAMPS
    ) -> Solution[VmfForeground]:
        """The whole story: every EM step, the localization and a scorer for new images."""

        def foreground(mean: Array, stack: BagStack) -> VmfForeground:
            direction, length = direction_and_length(mean)
            theta = direction if length > 0 else mean  # no direction: the background decides the first weights
            return VmfForeground(theta, self._first_kappa(stack), self.kappa_rule)

        em = partial(self.em, max_steps=self.max_steps, tol=self.tol)
        return solve(bags, self._view, self.start, foreground, rng, clamps, em)

    def _first_kappa(self, stack: BagStack) -> float:
        """The given kappa, or what the rule makes of the whole images, (6.6)."""
        if self.kappa is not None:
            return self.kappa
        _, length = direction_and_length(stack.mean_of((image, WHOLE_IMAGE) for image in stack.present))
        return float(cast("KappaRule", self.kappa_rule)(length, stack.dimension))

    def _view(self, bag: ProposalBag) -> View:
        """A bag as this model sees it."""
        seen = self.seen(bag)
        return View(seen.directions, self.background_weight * self.background.log_score(seen))
