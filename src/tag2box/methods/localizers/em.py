"""Expectation-maximisation over one region per image (Algorithm 1 of the paper; docs/method.md, section 6).

M = images, R = regions of all images, n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, final

import numpy as np

from tag2box.arrays import Array, Ints, require_finite
from tag2box.boxes import box_overlaps
from tag2box.methods.localizers.foregrounds import Foreground, logits
from tag2box.methods.localizers.stack import BagStack, require_common, stack_views
from tag2box.methods.localizers.starts import SAME_PLACE, Clamps, Start, known_regions
from tag2box.methods.view import View, Viewer
from tag2box.rows import Expected
from tag2box.types import Localization, ProposalBag

F = TypeVar("F", bound=Foreground)


@final
@dataclass(frozen=True, eq=False)
class EmStep(Generic[F]):
    """A foreground and what follows from it."""

    foreground: F
    rows: Ints
    """(M,), the likeliest region of each image"""
    likelihood: float
    """Log likelihood (6.4), up to the constant of the background"""


@final
@dataclass(frozen=True, eq=False)
class EmRun(Generic[F]):
    """Every step from a start to an answer, for replay."""

    steps: tuple[EmStep[F], ...]
    weights: Array
    """(R,), posterior of each row within its image, under the foreground of the last step"""
    converged: bool
    """Whether the foreground had stopped moving when EM ended"""

    @property
    def last(self) -> EmStep[F]:
        """The answer."""
        return self.steps[-1]


class Em(Protocol):
    """Whatever runs EM: another kernel may take the place of ``run_em``, which says what it must answer."""

    def __call__(self, bags: BagStack, start: F, *, max_steps: int, tol: float) -> EmRun[F]:
        """Steps from ``start`` until the foreground moves by less than ``tol``, ``max_steps`` at most."""
        ...


def e_step(bags: BagStack, foreground: F) -> tuple[EmStep[F], Expected]:
    """The log likelihood (6.4) under ``foreground``, with the posterior of each region (6.1) and their weighted sum."""
    expected = bags.expect(foreground.direction, foreground.factor)
    present = bags.present
    each = foreground.constant - foreground.log_normalizer
    likelihood = float(expected.log_sums[present].sum()) + len(present) * each
    return EmStep(foreground, expected.rows, likelihood), expected


def m_step(bags: BagStack, foreground: F, expected: Expected) -> F:
    """The foreground that maximises the expected likelihood."""
    return foreground.updated(expected.totals, len(bags.present))


def run_em(bags: BagStack, start: F, *, max_steps: int = 20, tol: float = 1e-7) -> EmRun[F]:
    """Every step from ``start`` until the foreground stops moving; the last one is the answer."""
    step, expected = e_step(bags, start)
    steps, converged = [step], False
    while not converged and len(steps) <= max_steps:
        step, expected = e_step(bags, m_step(bags, step.foreground, expected))
        converged = step.foreground.change(steps[-1].foreground) < tol
        steps.append(step)
    return EmRun(tuple(steps), expected.weights, converged)


def likeliest(runs: Iterable[EmRun[F]]) -> EmRun[F]:
    """The run that ends with the highest likelihood; the first one where several do."""
    return max(runs, key=lambda run: run.last.likelihood)


@final
@dataclass(frozen=True, eq=False)
class Solution(Generic[F]):
    """What EM found in a support set, and a scorer for new images."""

    viewer: Viewer
    stack: BagStack
    """The support images, as EM saw them"""
    run: EmRun[F]
    localization: Localization

    @property
    def views(self) -> tuple[View, ...]:
        """Of the support images."""
        return self.stack.views

    @property
    def steps(self) -> tuple[EmStep[F], ...]:
        """From the start to the answer, for replay."""
        return self.run.steps

    @property
    def converged(self) -> bool:
        """Whether EM ended by itself."""
        return self.run.converged

    @property
    def foreground(self) -> F:
        """The model of the common object."""
        return self.run.last.foreground

    def score(self, bag: ProposalBag, *, normalized: bool = False) -> Array:
        """(n,) raw logits (8.1) of the regions of a new image.

        ``normalized`` subtracts the foreground's log normaliser, so that objects of different kappa compare.
        """
        directions, background = self.viewer(bag)
        scores = logits(self.foreground, directions) - background
        return scores - self.foreground.log_normalizer if normalized else scores

    def rows_by_step(self) -> Ints:
        """(steps, M), the row with the most weight in each image, after every step."""
        return np.stack([step.rows for step in self.steps])

    def weights_at(self, step: EmStep[F]) -> Array:
        """(R,), posterior of each row within its image, after a step; worked out anew."""
        return self.stack.expect(step.foreground.direction, step.foreground.factor).weights


def solve(
    bags: Sequence[ProposalBag],
    viewer: Viewer,
    start: Start,
    foreground: Callable[[Array, BagStack], F],
    rng: np.random.Generator,
    clamps: Clamps,
    em: Callable[[BagStack, F], EmRun[F]],
) -> Solution[F]:
    """Run EM on the bags from every start and keep the likeliest end.

    Regions that are known count from the first E step on. Where the others would not look there, EM starts at their
    mean too: that is the way out of a trap.
    """
    clamps.check([len(bag) for bag in bags])
    if not clamps.known:
        require_common(len(bags) - len(clamps.absent))
    allowed = [clamps.allowed(image, len(bag)) for image, bag in enumerate(bags)]
    stack = stack_views([viewer(bag) for bag in bags], allowed)
    for view in stack.views:
        require_finite("background scores", view.background)

    def ended(means: Array) -> Solution[F]:
        require_finite("start of EM", means)
        run = likeliest(em(stack, foreground(mean, stack)) for mean in means)
        return Solution(viewer, stack, run, _localization(stack, run))

    found = ended(start(stack, rng))
    if not clamps.known:
        return found
    agreed = _agreed(found, bags, clamps)
    if agreed == len(clamps.known):
        return found
    shown = ended(known_regions(stack, clamps))
    return shown if _agreed(shown, bags, clamps) > agreed else found


def _agreed(found: Solution[F], bags: Sequence[ProposalBag], clamps: Clamps) -> int:
    """In how many images the known region is where the other images alone would look."""
    _, expected = e_step(found.stack, found.foreground)
    others = len(found.stack.present) - 1
    if not others:
        return len(clamps.known)
    agreed = 0
    for image, row in clamps.known.items():
        view = found.views[image]
        without = found.foreground.updated(expected.totals - view.directions.at([row])[0], others)
        likeliest_row = int((logits(without, view.directions) - view.background).argmax())
        boxes = bags[image].boxes[[likeliest_row, row]]
        agreed += bool(box_overlaps(boxes[:1], boxes[1:])[0, 0] >= SAME_PLACE)
    return agreed


def _localization(bags: BagStack, run: EmRun[F]) -> Localization:
    """The region with the most weight in each image, scored by its logit."""
    scores = [logits(run.last.foreground, view.directions) - view.background for view in bags.views]  # (n,) each
    return Localization.from_weights(bags.split(run.weights), scores)
