"""Expectation-maximisation over one region per image (Algorithm 1 of the paper; docs/method.md, section 6).

M = images, R = regions of all images, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar, final

from tag2box.arrays import Array
from tag2box.methods.localizers.foregrounds import Foreground
from tag2box.methods.localizers.stack import BagStack, softmax_by_image

F = TypeVar("F", bound=Foreground)


@final
@dataclass(frozen=True, eq=False)
class EmStep(Generic[F]):
    """A foreground and what follows from it: the weights always belong to this foreground."""

    foreground: F
    weights: Array
    """(R,), posterior of each row within its image"""
    likelihood: float
    """Log likelihood (6.4), up to the constant of the background"""


def e_step(bags: BagStack, foreground: F) -> EmStep[F]:
    """Posterior of each region (6.1) and the log likelihood (6.4) under ``foreground``."""
    evidence = foreground.logits(bags.features) - bags.background + bags.allowed  # (R,)
    weights, log_sums = softmax_by_image(evidence, bags.starts)
    present = bags.present
    likelihood = float(log_sums[present].sum()) - len(present) * foreground.log_normalizer
    return EmStep(foreground, weights, likelihood)


def m_step(bags: BagStack, step: EmStep[F]) -> F:
    """The foreground that maximises the expected likelihood under the weights of ``step``."""
    return step.foreground.updated(step.weights @ bags.features, len(bags.present))


def run_em(bags: BagStack, start: F, *, max_steps: int = 20, tol: float = 1e-7) -> tuple[EmStep[F], ...]:
    """Every step from ``start`` until the foreground stops moving; the last one is the answer."""
    steps = [e_step(bags, start)]
    for _ in range(max_steps):
        steps.append(e_step(bags, m_step(bags, steps[-1])))
        if steps[-1].foreground.change(steps[-2].foreground) < tol:
            break
    return tuple(steps)


def run_em_from_all(
    bags: BagStack, starts: Iterable[F], *, max_steps: int = 20, tol: float = 1e-7
) -> tuple[EmStep[F], ...]:
    """The run that ends with the highest likelihood; the first one where several do."""
    runs = [run_em(bags, start, max_steps=max_steps, tol=tol) for start in starts]
    return max(runs, key=lambda steps: steps[-1].likelihood)
