"""SILCO's two modules, with regions in the place of a map's positions (docs/method.md, section 17).

K = support images, n = regions of a new image, m = regions of a support image, d = feature dimension,
D = dimension of the network, h = half of it, G = what each layer of the graph adds to a node
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from tag2box.arrays import Array, Float32s, require_number, sigmoid
from tag2box.methods.floors import objectness_odds
from tag2box.types import Localization, ProposalBag, require_dimension

LEAK = 0.01
"""Slope of a leaky rectifier below 0."""
TINY = 1e-5


@final
@dataclass(frozen=True, eq=False)
class SilcoNetwork:
    """Weights as they were learned on tasks of base classes."""

    tensors: dict[str, Float32s]
    """By name: enter, query, key, value, back, graph.L.adjacency.M, graph.L.update, fuse, head; ``.bias`` of each"""

    @cached_property
    def layers(self) -> int:
        """Of the graph."""
        return sum(name.endswith(".update") for name in self.tensors)

    @cached_property
    def depth(self) -> int:
        """Layers of the network that says how much nodes heed each other."""
        return sum(name.startswith("graph.0.adjacency.") and not name.endswith(".bias") for name in self.tensors)

    def linear(self, name: str, values: Float32s) -> Float32s:
        """One linear layer."""
        return values @ self.tensors[name] + self.tensors[f"{name}.bias"]

    def enter(self, features: Float32s) -> Float32s:
        """(n, D) regions as they are compared."""
        return np.maximum(self.linear("enter", features), 0.0)

    def attend(self, seen: Float32s, support: Float32s) -> Float32s:
        """(n, D) regions of a new image with what they find alike in a support image, (17.1)."""
        query, key, value = self.linear("query", seen), self.linear("key", support), self.linear("value", support)
        heed = query @ key.T / np.sqrt(np.float32(key.shape[1]))  # (n, m)
        heed = np.exp(heed - heed.max(axis=1, keepdims=True))
        found = (heed / heed.sum(axis=1, keepdims=True)) @ value  # (n, h)
        found = (found - found.mean(axis=1, keepdims=True)) / np.sqrt(found.var(axis=1, keepdims=True) + TINY)
        return seen + self.linear("back", np.maximum(found, 0.0))

    def weigh(self, nodes: Float32s) -> Float32s:
        """(K,) how much each support image counts, by what a graph makes of their means (K, D), (17.2)."""
        for layer in range(self.layers):
            heed = np.abs(nodes[:, None] - nodes[None])  # (K, K, size)
            for part in range(self.depth):
                heed = self.linear(f"graph.{layer}.adjacency.{part}", heed)
                heed = heed if part == self.depth - 1 else leaky(heed)
            odds = np.where(np.eye(len(nodes), dtype=bool), -np.inf, heed[..., 0])
            if len(nodes) > 1:
                odds = np.exp(odds - odds.max(axis=1, keepdims=True))
                others = (odds / odds.sum(axis=1, keepdims=True)) @ nodes
            else:
                others = np.zeros_like(nodes)
            new = self.linear(f"graph.{layer}.update", np.concatenate([nodes, others], axis=1))
            if layer == self.layers - 1:
                return sigmoid(new[:, 0].astype(np.float64)).astype(np.float32)
            nodes = np.concatenate([nodes, leaky(new)], axis=1)
        raise ValueError("a graph without layers")

    def score(self, seen: Float32s, supports: Sequence[Float32s], weights: Float32s) -> Array:
        """(n,) log odds that a region shows what the support images share, (17.3)."""
        fused = sum(weight * self.attend(seen, support) for weight, support in zip(weights, supports, strict=True))
        return self.linear("head", np.maximum(self.linear("fuse", fused), 0.0))[:, 0].astype(np.float64)


def leaky(values: Float32s) -> Float32s:
    """Rectified, but not quite."""
    return np.where(values > 0, values, LEAK * values)


@final
@dataclass(frozen=True, eq=False)
class Silco:
    """Looks in new images for what resembles the support images as wholes; it never says where the thing is in them."""

    network: SilcoNetwork
    objectness_weight: float = 0.0
    """How much the detector's objectness counts"""

    def __post_init__(self) -> None:
        require_number("objectness weight", self.objectness_weight, at_least=0.0)

    def learn(
        self, positives: Sequence[ProposalBag], negatives: Sequence[ProposalBag], rng: np.random.Generator
    ) -> SilcoFit:
        """Nothing is learned but what the images are; each is asked by the others where the thing is in it."""
        for bag in positives:
            require_dimension("SILCO", bag, len(self.network.tensors["enter"]))
        supports = [self.network.enter(bag.features) for bag in positives]
        scores = []
        for place, bag in enumerate(positives):
            others = [*supports[:place], *supports[place + 1 :]] or supports
            scores.append(self.score(bag, others))
        return SilcoFit(self, tuple(supports), Localization.of_best(scores))

    def score(self, bag: ProposalBag, supports: Sequence[Float32s]) -> Array:
        """(n,)."""
        weights = self.network.weigh(np.stack([support.mean(axis=0) for support in supports]))
        scores = self.network.score(self.network.enter(bag.features), supports, weights)
        return scores + self.objectness_weight * objectness_odds(bag)


@final
@dataclass(frozen=True, eq=False)
class SilcoFit:
    """The support images, as the network sees them."""

    learner: Silco
    supports: tuple[Float32s, ...]
    localization: Localization

    def score(self, bag: ProposalBag) -> Array:
        """(n,)."""
        return self.learner.score(bag, self.supports)
