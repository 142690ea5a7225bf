"""Training the relation network on pairs of regions of base photos (docs/method.md, section 15).

T = pairs of photos in a step, r = regions of a photo, d = feature dimension, D = dimension of the network
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tag2box.methods.rivals import RelationNetwork
from tag2box.progress import Report
from tag2box.training.rivals.lessons import NOTHING, LabelledRegions
from tag2box.training.rivals.steps import take_steps

COUNTS = (3, 3, 6)
"""Regions of a photo: of the class that both photos show, of other objects, of none."""
FOCUS = 2.0
"""How much less pairs count that are understood already (15.4)"""


@final
@dataclass(frozen=True)
class RelationRecipe:
    """How the network is trained."""

    size: int = 128
    steps: int = 5000
    pairs: int = 16
    learning_rate: float = 0.05
    momentum: float = 0.9
    weight_decay: float = 5e-4
    largest_gradient: float = 10.0
    seed: int = 0


class Relation(nn.Module):
    """The network while it learns."""

    def __init__(self, dimension: int, size: int) -> None:
        super().__init__()
        self.enter, self.enter_norm = nn.Linear(dimension, size, bias=False), nn.BatchNorm1d(size)
        self.gate, self.gate_norm = nn.Linear(2 * size, size, bias=False), nn.BatchNorm1d(size)
        self.share, self.share_norm = nn.Linear(2 * size, size, bias=False), nn.BatchNorm1d(size)
        self.last = nn.Linear(size, 1)
        for layer in (self.enter, self.gate, self.share, self.last):
            nn.init.xavier_uniform_(layer.weight)

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """(T, r, r) log odds of all pairs, from features (T, r, d)."""
        f0, f1 = self.see(torch.stack([first, second]))  # (T, r, D)
        gate = torch.tanh(functional.relu(_normalized(self.gate_norm, _on_pairs(self.gate, f0, f1))))
        share = torch.sigmoid(functional.relu(_normalized(self.share_norm, _on_pairs(self.share, f0, f1))))
        answer: torch.Tensor = self.last(gate * share + 0.5 * (f0[:, :, None] + f1[:, None]))
        return answer[..., 0]

    def see(self, features: torch.Tensor) -> torch.Tensor:
        """(…, D) what is compared, from features (…, d)."""
        return functional.relu(_normalized(self.enter_norm, self.enter(features)))

    def folded(self) -> RelationNetwork:
        """The network as it is used, normalizations folded into weights."""
        enter, enter_bias = _folded(self.enter, self.enter_norm)
        (gate, gate_bias), (share, share_bias) = (
            _folded(self.gate, self.gate_norm),
            _folded(self.share, self.share_norm),
        )
        size = len(enter_bias)
        return RelationNetwork(
            enter, enter_bias, gate.reshape(2, size, size), gate_bias, share.reshape(2, size, size), share_bias,
            self.last.weight.detach().numpy()[0], self.last.bias.detach().numpy(),
        )  # fmt: skip


def _on_pairs(layer: nn.Linear, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """(T, r, r, D), a layer on all pairs of regions put end to end: each region goes through its half once."""
    left, right = layer.weight.chunk(2, dim=1)
    return (first @ left.T)[:, :, None] + (second @ right.T)[:, None]


def _normalized(norm: nn.BatchNorm1d, values: torch.Tensor) -> torch.Tensor:
    flat: torch.Tensor = norm(values.reshape(-1, values.shape[-1]))
    return flat.reshape(values.shape)


def _folded(layer: nn.Linear, norm: nn.BatchNorm1d) -> tuple[Any, Any]:
    """(inputs, D) and (D,): the layer and its normalization as one."""
    if norm.running_var is None or norm.running_mean is None:
        raise TypeError("a normalization without statistics")
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    bias = norm.bias - scale * norm.running_mean
    return (layer.weight * scale[:, None]).T.detach().numpy(), bias.detach().numpy()


def train_relations(regions: LabelledRegions, recipe: RelationRecipe, report: Report) -> RelationNetwork:
    """Learn on pairs of photos that share a class whether two of their regions show the same one."""
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    network = Relation(regions.features[0].shape[1], recipe.size)
    optimizer = torch.optim.SGD(
        network.parameters(), recipe.learning_rate, recipe.momentum, weight_decay=recipe.weight_decay
    )

    def loss_of() -> torch.Tensor:
        first, second, alike = _draw_pairs(regions, recipe.pairs, rng)
        return focal_loss(network(first, second), alike)

    take_steps(network, optimizer, recipe, loss_of, report)
    return network.eval().folded()


def focal_loss(odds: torch.Tensor, alike: torch.Tensor) -> torch.Tensor:
    """Mean cross entropy in which a pair counts by how far it is from being understood, (15.4)."""
    entropy = functional.binary_cross_entropy_with_logits(odds, alike, reduction="none")
    missed = 1.0 - torch.exp(-entropy)
    return (missed**FOCUS * entropy).mean()


def _draw_pairs(
    regions: LabelledRegions, pairs: int, rng: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Features (T, r, d) of both photos of each pair, and whether regions are of one class (T, r, r)."""
    wanted = rng.choice(list(regions.photos_of), pairs)
    features, labels = [], []
    for label in wanted:
        for photo in rng.choice(regions.photos_of[label], 2, replace=False):
            drawn, own = regions.draw(photo, label, COUNTS, rng)
            features.append(drawn)
            labels.append(own)
    both = torch.from_numpy(np.stack(features)).reshape(pairs, 2, sum(COUNTS), -1)
    first, second = np.stack(labels).reshape(pairs, 2, -1).swapaxes(0, 1)  # (T, r) each
    alike = (first[:, :, None] == second[:, None]) & (first[:, :, None] != NOTHING)
    return both[:, 0], both[:, 1], torch.from_numpy(alike.astype(np.float32))
