"""The detector in its four parts: backbone, neck, first stage (proposes), second stage (corrects and describes).

B = images; n = regions of one image; L = locations of all levels; d = dimension of a description
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from tag2box.extract.averages import BINS
from tag2box.extract.proposals import STRIDES
from tag2box.training.detector.recipe import Recipe
from tag2box.training.detector.regions import enlarged, roi_align, roi_average

CPU = torch.device("cpu")
REGION_STRIDE = 16
COSINE_SCALE = 20.0
LARGEST_LOG_DISTANCE = 5.0
FIRST_LOGIT = -2.0
"""Most locations have no object: a training that begins by believing so does not begin with a shock."""

Maps = tuple[Tensor, Tensor, Tensor]


class Proposals(NamedTuple):
    """What the first stage says at each location, before anything is chosen."""

    boxes: Tensor
    """(B, L, 4)"""
    quality: Tensor
    """(B, L), logit of the overlap that the box is believed to have with an object"""


class Descriptions(NamedTuple):
    """What the second stage says of each region."""

    corrections: Tensor
    """(n, 4), see (12.3)"""
    quality: Tensor
    """(n,), logit of the overlap that the region is believed to have with an object"""
    features: Tensor
    """(n, d): pooled backbone maps and embedding; the length is that of the pooled part"""
    class_scores: Tensor
    """(n, classes + 1): scaled cosines with the base classes and, last, with none of them"""


@final
class Neck(nn.Module):
    """Feature pyramid: what is deep and coarse is added to what is fine."""

    def __init__(self, channels: tuple[int, int, int], width: int):
        super().__init__()
        self.lateral = nn.ModuleList(nn.Conv2d(inward, width, 1) for inward in channels)
        self.smooth = nn.ModuleList(_block(width, width) for _ in channels)
        self.coarsest = _block(width, width, stride=2)

    def forward(self, maps: Maps) -> list[Tensor]:
        """Maps of the four levels, finest first."""
        fine, middle, coarse = (lateral(features) for lateral, features in zip(self.lateral, maps, strict=True))
        middle = middle + functional.interpolate(coarse, scale_factor=2.0, mode="nearest")
        fine = fine + functional.interpolate(middle, scale_factor=2.0, mode="nearest")
        levels = [smooth(features) for smooth, features in zip(self.smooth, (fine, middle, coarse), strict=True)]
        return [*levels, self.coarsest(levels[2])]


@final
class FirstStage(nn.Module):
    """At every location a box, and how well it is believed to cover an object (12.1), (12.2)."""

    def __init__(self, width: int):
        super().__init__()
        self.tower = nn.Sequential(_block(width, width), _block(width, width))
        self.distances = nn.Conv2d(width, 4, 1)
        self.quality = nn.Conv2d(width, 1, 1)
        nn.init.constant_(self.quality.bias, FIRST_LOGIT)  # type: ignore[arg-type]
        self.level_scale = nn.Parameter(torch.zeros(len(STRIDES)))

    def forward(self, levels: list[Tensor]) -> Proposals:
        """Boxes and qualities at the locations of all levels."""
        boxes, quality = [], []
        for number, (stride, level) in enumerate(zip(STRIDES, levels, strict=True)):
            seen = self.tower(level)
            logs = (self.distances(seen) + self.level_scale[number]).clamp(max=LARGEST_LOG_DISTANCE)
            distances = (torch.exp(logs) * stride).flatten(2).transpose(1, 2)  # (B, l, 4)
            places = level_locations(level.shape[2], level.shape[3], stride)
            boxes.append(torch.cat([places - distances[..., :2], places + distances[..., 2:]], dim=-1))
            quality.append(self.quality(seen).flatten(1))
        return Proposals(torch.cat(boxes, dim=1), torch.cat(quality, dim=1))


@final
class SecondStage(nn.Module):
    """Corrects, judges and describes any region of an image."""

    def __init__(self, channels: tuple[int, int, int], recipe: Recipe, classes: int):
        super().__init__()
        width = recipe.region_channels
        self.pooled = recipe.pooled
        self.margin = recipe.margin
        self.embedding_share = recipe.embedding_share
        self.from_fine = nn.Conv2d(recipe.channels, width, 1, stride=2)
        self.from_middle = nn.Conv2d(channels[1], width, 1)
        self.from_coarse = nn.Conv2d(channels[2], width, 1)
        self.join = nn.GroupNorm(8, width)
        self.look = _light_block(width)
        self.place = nn.Sequential(
            nn.Conv2d(width, 48, 1), nn.ReLU(), nn.Flatten(), nn.Linear(48 * self._bins**2, 256), nn.ReLU()
        )
        self.corrections = nn.Linear(256, 4)
        self.quality = nn.Linear(256, 1)
        pooled_width = self.pooled_width = sum(channels[number - 3] for number in self.pooled)
        known = width + pooled_width + (width + 256 if self.margin else 0)
        self.embed = nn.Sequential(nn.Linear(known, 256), nn.ReLU(), nn.Linear(256, recipe.embedding))
        self.projection: nn.Parameter | None = None  # it does not learn: see projecting.py
        self.class_directions = nn.Parameter(torch.randn(classes + 1, recipe.embedding))
        nn.init.zeros_(self.corrections.weight)
        nn.init.zeros_(self.corrections.bias)

    @property
    def _bins(self) -> int:
        return BINS + 2 * self.margin

    def region_map(self, levels: list[Tensor], maps: Maps) -> Tensor:
        """One map of stride 16 that regions are cut from: (B, width, H/16, W/16)."""
        coarse = functional.interpolate(
            self.from_coarse(maps[2]), scale_factor=2.0, mode="bilinear", align_corners=False
        )
        return functional.relu(self.join(self.from_fine(levels[0]) + self.from_middle(maps[1]) + coarse))

    def forward(self, region_map: Tensor, maps: Maps, boxes: Tensor) -> Descriptions:
        """Descriptions of ``boxes`` (n, 4) in one image, whose maps come without the leading axis."""
        window = enlarged(boxes, self._bins / BINS)
        seen = self.look(roi_align(region_map, window, self._bins, REGION_STRIDE))  # (n, width, bins, bins)
        placed = self.place(seen)
        pooled = self.averages(maps, boxes)
        known = [*self._inside_and_around(seen), functional.normalize(pooled), *([placed] if self.margin else [])]
        embedding = functional.normalize(self.embed(torch.cat(known, dim=1)), dim=1)
        cosines = embedding @ functional.normalize(self.class_directions, dim=1).T
        return Descriptions(
            self.corrections(placed),
            self.quality(placed)[:, 0],
            self.mixed(pooled, embedding),
            COSINE_SCALE * cosines,
        )

    def averages(self, maps: Maps, boxes: Tensor) -> Tensor:
        """Of the backbone's maps under boxes, (n, pooled width)."""
        return torch.cat([roi_average(maps[number - 3], boxes, 2**number, BINS) for number in self.pooled], dim=1)

    def project(self, directions: Tensor) -> None:
        """Let averages be what they are along these directions (k, pooled width), in descriptions from now on."""
        self.projection = nn.Parameter(directions.T.contiguous(), requires_grad=False)

    def _inside_and_around(self, seen: Tensor) -> list[Tensor]:
        """The average of a region's own bins, (n, width), and where it sees beyond them, that of those around."""
        if self.margin == 0:
            return [seen.mean((2, 3))]
        own = slice(self.margin, -self.margin)
        inside = seen[:, :, own, own].sum((2, 3))
        return [inside / BINS**2, (seen.sum((2, 3)) - inside) / (self._bins**2 - BINS**2)]

    def mixed(self, pooled: Tensor, embedding: Tensor) -> Tensor:
        """The two parts of a description, which weigh 1 - share and share in every cosine."""
        share = self.embedding_share
        averages = pooled @ self.projection if self.projection is not None else pooled
        if share == 0.0:
            return averages
        length = averages.norm(dim=1, keepdim=True)
        return torch.cat([(1.0 - share) ** 0.5 * averages, share**0.5 * length * embedding], dim=1)


@final
class Heads(nn.Module):
    """Everything after the backbone."""

    def __init__(self, channels: tuple[int, int, int], recipe: Recipe, classes: int):
        super().__init__()
        self.neck = Neck(channels, recipe.channels)
        self.first = FirstStage(recipe.channels)
        self.second = SecondStage(channels, recipe, classes)

    def forward(self, maps: Maps) -> tuple[Proposals, Tensor]:
        """What the first stage proposes, and the map for the second."""
        levels = self.neck(maps)
        return self.first(levels), self.second.region_map(levels, maps)


def level_locations(rows: int, columns: int, stride: int) -> Tensor:
    """Centres (x, y) of the cells of one level, row by row."""
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return (torch.stack([x, y], dim=-1).reshape(-1, 2) + 0.5) * stride  # (rows · columns, 2)


@cache
def locations(size: int, device: torch.device = CPU) -> tuple[Tensor, Tensor]:
    """Centres of the cells of all levels for an input of ``size`` × ``size``, and the level of each."""
    sides = [-(-size // stride) for stride in STRIDES]
    places = [level_locations(side, side, stride) for side, stride in zip(sides, STRIDES, strict=True)]
    levels = [torch.full((side * side,), number) for number, side in enumerate(sides)]
    return torch.cat(places).to(device), torch.cat(levels).to(device)  # (L, 2), (L,)


def _light_block(width: int) -> nn.Sequential:
    """Looks around in each channel, then mixes the channels: a tenth of the work of the block below."""
    around = nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False)
    return nn.Sequential(around, nn.Conv2d(width, width, 1, bias=False), nn.GroupNorm(8, width), nn.ReLU())


def _block(inward: int, outward: int, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inward, outward, 3, stride, 1, bias=False)
    return nn.Sequential(convolution, nn.GroupNorm(8, outward), nn.ReLU())
