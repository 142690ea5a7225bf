"""Training SILCO's two modules on tasks of base classes (docs/method.md, section 17).

E = tasks in a step, K = support photos, n = regions of a photo, q = regions of a query that count, d = feature
dimension, D = dimension of the network
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tag2box.arrays import Float32s
from tag2box.methods.rivals import SilcoNetwork
from tag2box.methods.rivals.silco import LEAK
from tag2box.progress import Report
from tag2box.training.rivals.lessons import LabelledRegions
from tag2box.training.rivals.steps import take_steps

COUNTS = (8, 16, 40)
"""Regions of a query that count: of the class, of other objects, of none."""
HARD = 3
"""Regions that are not of the class, for each that is: the hardest ones."""


@final
@dataclass(frozen=True)
class SilcoRecipe:
    """How the network is trained."""

    size: int = 64
    grows: int = 16
    layers: int = 5
    heed: tuple[int, ...] = (64, 64, 32, 32)
    """Sizes of the network that says how much nodes heed each other"""
    shots: int = 5
    support_regions: int = 128
    """Of each support photo, drawn anew in every step"""
    steps: int = 2000
    tasks: int = 8
    learning_rate: float = 1e-3
    weight_decay: float = 5e-4
    dropout: float = 0.3
    largest_gradient: float = 10.0
    seed: int = 0


class SilcoModules(nn.Module):
    """The network while it learns."""

    def __init__(self, dimension: int, recipe: SilcoRecipe) -> None:
        super().__init__()
        self.recipe, size = recipe, recipe.size
        self.enter, self.enter_norm = nn.Linear(dimension, size), nn.BatchNorm1d(size)
        self.query, self.key, self.value = (nn.Linear(size, size // 2) for _ in range(3))
        self.back = nn.Linear(size // 2, size)
        nn.init.zeros_(self.back.weight)
        nn.init.zeros_(self.back.bias)
        self.heed, self.update = nn.ModuleList(), nn.ModuleList()
        for layer in range(recipe.layers):
            node = size + layer * recipe.grows
            sizes = (node, *recipe.heed, 1)
            self.heed.append(nn.Sequential(*map(nn.Linear, sizes[:-1], sizes[1:])))
            self.update.append(nn.Linear(2 * node, 1 if layer == recipe.layers - 1 else recipe.grows))
        self.fuse, self.head = nn.Linear(size, size), nn.Linear(size, 1)

    def forward(self, query: torch.Tensor, supports: torch.Tensor) -> torch.Tensor:
        """(E, q) log odds, from features (E, q, d) of queries and (E, K, n, d) of supports."""
        seen, support = self._enter(query), self._enter(supports)  # (E, q, D), (E, K, n, D)
        attended = self._attend(seen, support)  # (E, K, q, D)
        weights = self._weigh(support.mean(dim=2))  # (E, K)
        fused = (weights[:, :, None, None] * attended).sum(dim=1)  # (E, q, D)
        answer: torch.Tensor = self.head(functional.relu(self.fuse(fused)))
        return answer[..., 0]

    def _enter(self, features: torch.Tensor) -> torch.Tensor:
        entered = self.enter(features)
        flat: torch.Tensor = self.enter_norm(entered.reshape(-1, entered.shape[-1]))
        return functional.relu(flat.reshape(entered.shape))

    def _attend(self, seen: torch.Tensor, support: torch.Tensor) -> torch.Tensor:
        """(E, K, q, D), (17.1)."""
        query, key, value = self.query(seen)[:, None], self.key(support), self.value(support)
        heed = torch.softmax(query @ key.transpose(-1, -2) / key.shape[-1] ** 0.5, dim=-1)  # (E, K, q, n)
        found = functional.relu(functional.layer_norm(heed @ value, value.shape[-1:]))
        return seen[:, None] + functional.dropout(self.back(found), self.recipe.dropout, self.training)

    @property
    def _heeding(self) -> list[list[nn.Module]]:
        return [list(heed.children()) for heed in self.heed]

    def _weigh(self, nodes: torch.Tensor) -> torch.Tensor:
        """(E, K), (17.2)."""
        itself = torch.eye(nodes.shape[1], dtype=torch.bool)
        for heed, update in zip(self._heeding, self.update, strict=True):
            odds = (nodes[:, :, None] - nodes[:, None]).abs()  # (E, K, K, size)
            for part, layer in enumerate(heed):
                odds = layer(odds)
                if part < len(heed) - 1:
                    odds = functional.dropout(functional.leaky_relu(odds, LEAK), self.recipe.dropout, self.training)
            adjacency = torch.softmax(odds[..., 0].masked_fill(itself, -torch.inf), dim=-1)
            new = update(torch.cat([nodes, adjacency @ nodes], dim=-1))
            if update is self.update[-1]:
                break
            nodes = torch.cat([nodes, functional.leaky_relu(new, LEAK)], dim=-1)
        return torch.sigmoid(new[..., 0])

    def kept(self) -> SilcoNetwork:
        """The network as it is used."""
        norm = self.enter_norm
        if norm.running_var is None or norm.running_mean is None:
            raise TypeError("a normalization without statistics")
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        layers = {name: getattr(self, name) for name in ("query", "key", "value", "back", "fuse", "head")}
        for number, (heed, update) in enumerate(zip(self._heeding, self.update, strict=True)):
            layers |= {f"graph.{number}.adjacency.{part}": layer for part, layer in enumerate(heed)}
            layers[f"graph.{number}.update"] = update
        tensors = {
            "enter": (self.enter.weight * scale[:, None]).T,
            "enter.bias": (self.enter.bias - norm.running_mean) * scale + norm.bias,
        }
        for name, layer in layers.items():
            tensors |= {name: layer.weight.T, f"{name}.bias": layer.bias}
        return SilcoNetwork({name: np.ascontiguousarray(values.detach().numpy()) for name, values in tensors.items()})


def train_silco(regions: LabelledRegions, recipe: SilcoRecipe, report: Report) -> SilcoNetwork:
    """Learn on tasks: which regions of a photo show what the others share."""
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    network = SilcoModules(regions.features[0].shape[1], recipe)
    optimizer = torch.optim.AdamW(network.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay)

    def loss_of() -> torch.Tensor:
        query, supports, shows = _draw_tasks(regions, recipe, rng)
        return hard_loss(network(query, supports), shows)

    take_steps(network, optimizer, recipe, loss_of, report)
    return network.eval().kept()


def hard_loss(odds: torch.Tensor, shows: torch.Tensor) -> torch.Tensor:
    """Cross entropy of the regions that show the class and of the hardest of the others, by the number of the first."""
    entropy = functional.binary_cross_entropy_with_logits(odds, shows, reduction="none")
    is_class = shows > 0
    others = entropy.masked_fill(is_class, -torch.inf)
    hardest = others.sort(dim=1, descending=True).values
    counts = HARD * is_class.sum(dim=1, keepdim=True)
    counted = (torch.arange(odds.shape[1]) < counts) & torch.isfinite(hardest)
    total = entropy[is_class].sum() + torch.where(counted, hardest, 0.0).sum()
    return total / is_class.sum().clamp(min=1)


def _draw_tasks(
    regions: LabelledRegions, recipe: SilcoRecipe, rng: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Features of queries (E, q, d) and supports (E, K, n, d), and which query regions are of the class (E, q)."""
    enough = [label for label, photos in regions.photos_of.items() if len(photos) > recipe.shots]
    queries, supports, shows = [], [], []
    for label in rng.choice(enough, recipe.tasks):
        own, *others = rng.choice(regions.photos_of[label], recipe.shots + 1, replace=False)
        drawn, labels = regions.draw(own, label, COUNTS, rng)
        queries.append(drawn)
        shows.append(labels == label)
        supports.append([_drawn(regions.features[photo], recipe.support_regions, rng) for photo in others])
    stacked = [np.stack(queries), np.array(supports), np.stack(shows).astype(np.float32)]
    query, support, is_class = (torch.from_numpy(values) for values in stacked)
    return query, support, is_class


def _drawn(features: Float32s, count: int, rng: np.random.Generator) -> Float32s:
    return features[rng.choice(len(features), count, replace=len(features) < count)]
