"""From an exported model back to torch: the detector whose two graphs a folder holds.

The exporter keeps the names of most weights. Those of norms it renames, and the scales of the levels it takes apart;
both are found by the operation that uses them, which bears the name of its module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

from tag2box.errors import TrainingError
from tag2box.extract import BOX_GRAPH, PHOTO_GRAPH, read_card
from tag2box.training.detector.loop import Detector
from tag2box.training.detector.recipe import recipe_from

RENAMED = "onnx::"
ROLES = {"Mul": "weight", "Add": "bias"}
"""What a norm multiplies by, and what it adds."""
LEVEL_SCALE = "heads.first.level_scale"


def load_exported(folder: Path) -> Detector:
    """The detector that ``export_model`` wrote to ``folder``, with the same weights, at rest."""
    card = read_card(folder)
    detector = Detector(recipe_from(card.recipe, str(folder)), len(card.trained_on["classes"]))
    parts = {"backbone": detector.backbone, "heads": detector.heads}
    wanted = {f"{part}.{name}": value for part, module in parts.items() for name, value in module.state_dict().items()}
    found = _photo_weights(folder / PHOTO_GRAPH, wanted) | _box_weights(folder / BOX_GRAPH, wanted)
    missing = sorted(set(wanted) - set(found))
    if missing:
        raise TrainingError(
            f"the graphs in {folder} have no weights {missing[0]} (and {len(missing) - 1} more).",
            "a model of EfficientNet-Lite0, whose weights stand in its graphs as they were learned",
            "give the model that ships, or another of that backbone.",
        )
    for part, module in parts.items():
        module.load_state_dict({name: found[f"{part}.{name}"] for name in module.state_dict()})
    return detector.eval()


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
