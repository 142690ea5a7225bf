"""To ONNX and back: two graphs, pixels to maps and proposals, maps and boxes to descriptions; and torch again.

The exporter keeps the names of most weights. Those of norms it renames, and the scales of the levels it takes apart;
on the way back, both are found by the operation that uses them, which bears the name of its module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import final

import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from tag2box.errors import TrainingError, reason_of
from tag2box.extract import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH, Card, read_card, write_card
from tag2box.files import replacing
from tag2box.training.detector.assembly import Detector
from tag2box.training.detector.backbones import onnx_graph
from tag2box.training.detector.recipe import Recipe, recipe_from
from tag2box.training.detector.regions import corrected

PROPOSED = ("boxes", "quality")
MAPS = ("region_map", "fine", "middle", "coarse")
DESCRIBED = ("corrected", "quality", "features", "classes")
Axes = Mapping[str, Sequence[int]]
ANY_PHOTO: Axes = {"pixels": (0, 1, 2), **dict.fromkeys(PROPOSED, (0, 1)), **dict.fromkeys(MAPS, (0, 2, 3))}
"""Axes whose length is free in the first graph: any number of photos of any size …"""
ANY_BOXES: Axes = {**dict.fromkeys(("boxes", *DESCRIBED), (0,)), **dict.fromkeys(MAPS, (1, 2))}
"""… and in the second: any number of boxes, on maps of any size."""

RENAMED = "onnx::"
ROLES = {"Mul": "weight", "Add": "bias"}
"""What a norm multiplies by, and what it adds."""
LEVEL_SCALE = "heads.first.level_scale"


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
    pooled = recipe.projected or sum(detector.backbone.backbone.channels[number - 3] for number in recipe.pooled)
    embedding = recipe.embedding if recipe.embedding_share else 0
    write_card(folder / CARD_NAME, Card.of(folder, recipe.image_size, pooled, embedding, recipe.to_json(), trained_on))


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def load_exported(folder: Path) -> Detector:
    """The detector that ``export_model`` wrote to ``folder``, with the same weights, at rest."""
    card = read_card(folder)
    detector = Detector(recipe_from(card.recipe, str(folder)), len(card.trained_on["classes"]))
    second = detector.heads.second
    if projected := card.recipe.get("projected", 0):
        second.project(torch.zeros(projected, second.pooled_width))
    parts = {"backbone": detector.backbone, "heads": detector.heads}
    wanted = {f"{part}.{name}": value for part, module in parts.items() for name, value in module.state_dict().items()}
    found = _photo_weights(folder / PHOTO_GRAPH, wanted) | _box_weights(folder / BOX_GRAPH, wanted)
    missing = sorted(set(wanted) - set(found))
    if missing:
        raise TrainingError(
            f"the graphs in {folder} have no weights {missing[0]} (and {len(missing) - 1} more).",
            "a model whose weights stand in its graphs as they were learned",
            "give the folder `model` of a training run.",
        )
    for part, module in parts.items():
        module.load_state_dict({name: found[f"{part}.{name}"] for name in module.state_dict()})
    return detector.eval()


def take_over(detector: Detector, classes: Sequence[str], folder: Path) -> None:
    """Give a detector of these classes the weights of the one in ``folder``; what that never learned stays random."""
    known, learned = load_exported(folder), list(read_card(folder).trained_on["classes"])
    directions = detector.heads.second.class_directions.detach().clone()
    known_directions = known.heads.second.class_directions.detach()
    known.heads.second.projection = None  # it is fitted when all is learned
    try:
        detector.backbone.load_state_dict(known.backbone.state_dict())
        for place, label in enumerate(classes):
            if label in learned:
                directions[place] = known_directions[learned.index(label)]
        directions[-1] = known_directions[-1]  # none of them
        detector.heads.load_state_dict(known.heads.state_dict() | {"second.class_directions": directions})
    except RuntimeError as error:
        reason = reason_of(error).splitlines()[-1].strip()
        raise TrainingError(
            f"the model in {folder} is built otherwise than the recipe says: {reason}",
            "a model of the same backbone, with layers of the same sizes",
            "give such a model, or the recipe that it was trained by.",
        ) from error


def _photo_weights(path: Path, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    graph = onnx.load(path).graph
    scales = [values for _, values in _renamed(graph) if values.ndim == 0]
    return _weights(graph, "", wanted) | {LEVEL_SCALE: torch.stack(scales)}


def _box_weights(path: Path, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return _weights(onnx.load(path).graph, "heads.", wanted)


def _weights(graph: onnx.GraphProto, prefix: str, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of one graph, whose names begin with ``prefix`` in the whole detector."""
    kept = {prefix + name: values for name, values in _constants(graph).items() if prefix + name in wanted}
    for node, values in _renamed(graph):
        if values.ndim == 3:  # one number for each channel, as a norm has
            name = _whole_name(prefix + _module(node.name) + "." + ROLES[node.op_type], wanted)
            kept[name] = values.reshape(wanted[name].shape)
    return kept


def _constants(graph: onnx.GraphProto) -> dict[str, Tensor]:
    return {entry.name: torch.tensor(numpy_helper.to_array(entry)) for entry in graph.initializer}


def _renamed(graph: onnx.GraphProto) -> Iterator[tuple[onnx.NodeProto, Tensor]]:
    """Operations that multiply by or add a weight without a name of its own, with that weight, in their order."""
    constants = _constants(graph)
    for node in graph.node:
        if node.op_type in ROLES:
            for name in node.input:
                if name.startswith(RENAMED) and name in constants:
                    yield node, constants[name]


def _module(operation: str) -> str:
    """``heads.neck.smooth.0.1`` of ``/heads/neck/smooth.0/smooth.0.1/Mul``."""
    names = operation.strip("/").split("/")[:-1]
    outermost = [name for name, inner in zip(names, [*names[1:], ""], strict=True) if not inner.startswith(f"{name}.")]
    return ".".join(outermost)


def _whole_name(name: str, wanted: Mapping[str, Tensor]) -> str:
    """The one name that has all parts of ``name`` in this order: modules whose forward was passed over are missing."""
    parts = name.split(".")
    for whole in wanted:
        rest = iter(whole.split("."))
        if all(part in rest for part in parts):
            return whole
    return name
