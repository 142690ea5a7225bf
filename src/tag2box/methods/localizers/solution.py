"""How every EM localizer goes from bags to an answer, and what the answer holds.

M = images, R = regions of all images, n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, final

import numpy as np

from tag2box.arrays import Array, require_finite
from tag2box.methods.localizers.clamps import Clamps
from tag2box.methods.localizers.em import EmStep, F, run_em_from_all
from tag2box.methods.localizers.stack import BagStack, require_common, stack_bags
from tag2box.methods.localizers.starts import Start, known_regions
from tag2box.types import Localization, ProposalBag

View = Callable[[ProposalBag], tuple[Array, Array]]
"""A bag as a model sees it: features (n, d) and weighted background scores (n,)."""


@final
@dataclass(frozen=True, eq=False)
class Solution(Generic[F]):
    """What EM found in a support set, and a scorer for new images."""

    view: View
    steps: tuple[EmStep[F], ...]
    """From the start to the answer, for replay."""
    localization: Localization

    @property
    def foreground(self) -> F:
        """The model of the common object."""
        return self.steps[-1].foreground

    def score(self, bag: ProposalBag, *, normalized: bool = False) -> Array:
        """(n,) raw logits (8.1) of the regions of a new image.

        ``normalized`` subtracts the foreground's log normaliser, so that objects of different kappa compare.
        """
        features, background = self.view(bag)
        logits = self.foreground.logits(features) - background
        return logits - self.foreground.log_normalizer if normalized else logits


def solve(
    bags: Sequence[ProposalBag],
    view: View,
    start: Start,
    foreground: Callable[[Array, BagStack], F],
    rng: np.random.Generator,
    clamps: Clamps,
    *,
    max_steps: int,
    tol: float,
) -> Solution[F]:
    """Run EM on the bags from every start and keep the likeliest end; regions that are known become the start."""
    clamps.check([len(bag) for bag in bags])
    if not clamps.known:
        require_common(len(bags) - len(clamps.absent))
    stack = _stack([view(bag) for bag in bags], clamps)
    means = known_regions(stack, clamps) if clamps.known else start(stack, rng)
    require_finite("start of EM", means)
    require_finite("background scores", stack.background)
    foregrounds = [foreground(mean, stack) for mean in means]
    steps = run_em_from_all(stack, foregrounds, max_steps=max_steps, tol=tol)
    return Solution(view, steps, _localization(stack, steps[-1]))


def _stack(views: Sequence[tuple[Array, Array]], clamps: Clamps) -> BagStack:
    features, backgrounds = zip(*views, strict=True)
    allowed = [clamps.allowed(image, len(rows)) for image, rows in enumerate(features)]
    return stack_bags(features, backgrounds, allowed)


def _localization(bags: BagStack, step: EmStep[F]) -> Localization:
    """The region with the most weight in each image, scored by its logit."""
    logits = step.foreground.logits(bags.features) - bags.background  # (R,)
    return Localization.from_weights(bags.split(step.weights), bags.split(logits))
