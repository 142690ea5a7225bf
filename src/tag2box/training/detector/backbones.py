"""What all backbones share: files of weights, pictures as they come, and the fast way through a frozen one.

B = images; S = side of the input
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import final

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from tag2box.errors import TrainingError
from tag2box.extract import OnnxGraph
from tag2box.training.detector.network import Backbone, Maps

MAP_NAMES = ("fine", "middle", "coarse")
OPSET = 17


@final
class FromPixels(nn.Module):
    """A backbone that takes pictures as files hold them: (B, S, S, 3), 8 bits a channel."""

    mean: Tensor
    scale: Tensor

    def __init__(self, backbone: Backbone):
        super().__init__()
        self.backbone = backbone
        self.register_buffer("mean", torch.tensor(backbone.pixel_mean)[:, None, None])
        self.register_buffer("scale", torch.tensor(backbone.pixel_scale)[:, None, None])

    def forward(self, pixels: Tensor) -> Maps:
        """Maps of strides 8, 16 and 32."""
        values = pixels.permute(0, 3, 1, 2).float()
        return self.backbone((values - self.mean) / self.scale)


@final
class FrozenMaps:
    """A backbone that does not learn, run by ONNX Runtime: same maps, a third of the time."""

    def __init__(self, backbone: FromPixels, side: int):
        pixels = torch.zeros(1, side, side, 3, dtype=torch.uint8)
        free = dict.fromkeys(("pixels", *MAP_NAMES), (0,))
        graph = onnx_graph(backbone, {"pixels": pixels}, MAP_NAMES, free)
        self._graph = OnnxGraph(graph, torch.get_num_threads())

    def __call__(self, pixels: npt.NDArray[np.uint8]) -> Maps:
        """Maps of strides 8, 16 and 32."""
        maps = self._graph({"pixels": pixels})
        fine, middle, coarse = (torch.from_numpy(maps[name]) for name in MAP_NAMES)
        return fine, middle, coarse


def onnx_graph(
    module: nn.Module, inputs: dict[str, Tensor], outputs: Sequence[str], free: Mapping[str, Sequence[int]]
) -> bytes:
    """The module at rest as an ONNX file; the axes in ``free`` of the tensors it names may have any length."""
    written = io.BytesIO()
    with warnings.catch_warnings(action="ignore"):  # the exporter warns of what it does itself
        torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            written,  # type: ignore[arg-type]  # works, and leaves no file behind
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={name: {axis: f"{name}_{axis}" for axis in axes} for name, axes in free.items()},
            opset_version=OPSET,
            dynamo=False,
        )
    return written.getvalue()


def read_weights(weights: str | Path) -> dict[str, Tensor]:
    """Tensors by name, of a ``.safetensors`` file or of what ``torch.save`` wrote; code in the latter is not run."""
    path = Path(weights)
    if not path.is_file():
        raise TrainingError(f"there is no file {path}.", "a file of weights", "set backbone_weights to one.")
    if path.suffix == ".safetensors":
        return load_file(path)
    saved: dict[str, Tensor] = torch.load(path, weights_only=True, map_location="cpu")
    return saved
