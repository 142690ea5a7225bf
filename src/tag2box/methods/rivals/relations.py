"""The relation network: whether two regions of two images show the same kind of thing (docs/method.md, section 15).

n, m = regions of two bags, d = feature dimension, D = dimension of the network
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple, final

import numpy as np

from tag2box.arrays import Float32s, Ints, frozen, require_shape
from tag2box.types import ProposalBag, require_dimension

BLOCK = 16
"""Rows that are compared with all others at a time: so many stay in a core's cache."""


class Projected(NamedTuple):
    """Regions as the network sees them, as the first or as the second of two; each costs one pass."""

    gate: tuple[Float32s, Float32s]
    """(n, D) as first and as second, of the part that goes through tanh"""
    share: tuple[Float32s, Float32s]
    """(n, D), of the part that goes through the sigmoid, halved: sigmoid(2x) = (1 + tanh(x)) / 2"""
    own: Float32s
    """(n,), half of what each region brings by itself"""

    def __len__(self) -> int:
        return len(self.own)

    def at(self, rows: Ints | slice) -> Projected:
        """Some of the regions."""
        (g0, g1), (s0, s1) = self.gate, self.share
        return Projected((g0[rows], g1[rows]), (s0[rows], s1[rows]), self.own[rows])


@final
@dataclass(frozen=True, eq=False)
class RelationNetwork:
    """Weights as they were learned on base classes, with the normalizations folded in."""

    enter: Float32s
    """(d, D), from features to what is compared"""
    enter_bias: Float32s
    """(D,)"""
    gate: Float32s
    """(2, D, D), of the first and of the second region, (15.1)"""
    gate_bias: Float32s
    """(D,)"""
    share: Float32s
    """(2, D, D), (15.2)"""
    share_bias: Float32s
    """(D,)"""
    weights: Float32s
    """(D,), (15.3)"""
    bias: Float32s
    """(1,)"""

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, frozen(getattr(self, each.name), np.float32))
        size = len(self.weights)
        require_shape("enter of a relation network", self.enter, (None, size))
        for name in ("enter_bias", "gate_bias", "share_bias"):
            require_shape(f"{name} of a relation network", getattr(self, name), (size,))
        for name in ("gate", "share"):
            require_shape(f"{name} of a relation network", getattr(self, name), (2, size, size))
        require_shape("bias of a relation network", self.bias, (1,))

    def project(self, bag: ProposalBag) -> Projected:
        """The regions of a bag, for any number of comparisons."""
        require_dimension("relation network", bag, len(self.enter))
        return self.projected(bag.features)

    def projected(self, features: Float32s) -> Projected:
        """Regions with such features (n, d)."""
        seen = np.maximum(features @ self.enter + self.enter_bias, 0.0)  # (n, D)
        gate = seen @ self.gate[0] + self.gate_bias, seen @ self.gate[1]
        share = 0.5 * (seen @ self.share[0] + self.share_bias), 0.5 * (seen @ self.share[1])
        return Projected(gate, share, 0.5 * (seen @ self.weights))

    def table(self, first: Projected, second: Projected) -> Float32s:
        """(n, m), log odds that two regions show the same kind of thing, (15.3); their order counts."""
        scores = np.empty((len(first), len(second)), dtype=np.float32)
        half = 0.5 * self.weights
        for start in range(0, len(first), BLOCK):
            rows = slice(start, start + BLOCK)
            gate = first.gate[0][rows, None] + second.gate[1]  # (b, m, D)
            np.tanh(np.maximum(gate, 0.0, out=gate), out=gate)
            share = first.share[0][rows, None] + second.share[1]
            np.tanh(np.maximum(share, 0.0, out=share), out=share)
            share += 1.0
            share *= gate
            scores[rows] = share @ half
        return scores + first.own[:, None] + (second.own + self.bias)
