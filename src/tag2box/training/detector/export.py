"""From torch to two ONNX graphs: pixels to maps and proposals; maps and boxes to descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import final

import torch
from torch import Tensor, nn

from tag2box.extract import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH, Card, write_card
from tag2box.files import replacing
from tag2box.training.detector.loop import Detector
from tag2box.training.detector.onnx_graph import onnx_graph
from tag2box.training.detector.recipe import Recipe
from tag2box.training.detector.regions import corrected

PROPOSED = ("boxes", "quality")
MAPS = ("region_map", "fine", "middle", "coarse")
DESCRIBED = ("corrected", "quality", "features", "classes")
Axes = Mapping[str, Sequence[int]]
ANY_PHOTO: Axes = {"pixels": (0, 1, 2), **dict.fromkeys(PROPOSED, (0, 1)), **dict.fromkeys(MAPS, (0, 2, 3))}
"""Axes whose length is free in the first graph: any number of photos of any size …"""
ANY_BOXES: Axes = {**dict.fromkeys(("boxes", *DESCRIBED), (0,)), **dict.fromkeys(MAPS, (1, 2))}
"""… and in the second: any number of boxes, on maps of any size."""


@final
class PhotoGraph(nn.Module):
    """Pixels to boxes with their quality, and to the maps that the other graph reads."""

    def __init__(self, detector: Detector):
        super().__init__()
        self.backbone = detector.backbone
        self.heads = detector.heads

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
        """(B, S, S, 3) to boxes (B, L, 4), quality (B, L) and four maps."""
        maps = self.backbone(pixels)
        proposals, region_map = self.heads(maps)
        return proposals.boxes, torch.sigmoid(proposals.quality), region_map, *maps


@final
class BoxGraph(nn.Module):
    """The maps of one photo and any boxes to corrected boxes, quality, features and base classes."""

    def __init__(self, detector: Detector):
        super().__init__()
        self.second = detector.heads.second

    def forward(
        self, boxes: Tensor, region_map: Tensor, fine: Tensor, middle: Tensor, coarse: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """(n, 4) to (n, 4), (n,), (n, d) and (n, classes + 1)."""
        said = self.second(region_map, (fine, middle, coarse), boxes)
        classes = torch.softmax(said.class_scores, dim=1)
        return corrected(boxes, said.corrections), torch.sigmoid(said.quality), said.features, classes


@torch.no_grad()
def export_model(folder: Path, detector: Detector, recipe: Recipe, trained_on: dict[str, object]) -> None:
    """Write both graphs and the card."""
    folder.mkdir(parents=True, exist_ok=True)
    detector.eval()
    pixels = torch.full((1, recipe.image_size, recipe.image_size, 3), 127, dtype=torch.uint8)
    graph = PhotoGraph(detector)
    _write(folder / PHOTO_GRAPH, onnx_graph(graph, {"pixels": pixels}, (*PROPOSED, *MAPS), ANY_PHOTO))
    maps = dict(zip(MAPS, (values[0] for values in graph(pixels)[2:]), strict=True))
    boxes = torch.tensor([[0.0, 0.0, recipe.image_size, recipe.image_size], [10.0, 20.0, 50.0, 90.0]])
    _write(folder / BOX_GRAPH, onnx_graph(BoxGraph(detector), {"boxes": boxes} | maps, DESCRIBED, ANY_BOXES))
    pooled = sum(detector.backbone.backbone.channels[number - 3] for number in recipe.pooled)
    embedding = recipe.embedding if recipe.embedding_share else 0
    write_card(folder / CARD_NAME, Card.of(folder, recipe.image_size, pooled, embedding, recipe.to_json(), trained_on))


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(content)
