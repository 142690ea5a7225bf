"""What all backbones share: blocks in a row, weights in files, pictures as they come, a fast way through frozen blocks.

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
from tag2box.training.detector.network import Maps

IMAGENET_MEAN = (123.675, 116.28, 103.53)
IMAGENET_DEVIATION = (58.395, 57.12, 57.375)
OPSET = 17


class Backbone(nn.Module):
    """Blocks one after the other, from pixels (B, 3, H, W) to maps of strides 8, 16 and 32."""

    channels: tuple[int, int, int]
    pixel_mean: tuple[float, float, float]
    pixel_scale: tuple[float, float, float]
    ends: tuple[int, int, int]
    """Places of the blocks after which the three maps are there; the last is that of the last block"""

    @property
    def blocks(self) -> Sequence[nn.Module]:
        """All of them, in their order."""
        raise NotImplementedError

    def forward(self, pixels: Tensor) -> Maps:
        """The three maps."""
        fine, middle, coarse = self.walk((pixels,), 0, len(self.blocks))
        return fine, middle, coarse

    def walk(self, known: tuple[Tensor, ...], first: int, last: int) -> tuple[Tensor, ...]:
        """From what was known before block ``first`` to what is known before block ``last``.

        Known are the maps that ended on the way, and then the values that the next block takes.
        """
        *maps, values = known
        for place in range(first, last):
            if place - 1 in self.ends:
                maps.append(values)
            values = self.blocks[place](values)
        return (*maps, values)


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
        return self.backbone(self.normalised(pixels))

    def normalised(self, pixels: Tensor) -> Tensor:
        """Pixels as the backbone's weights expect them: (B, 3, S, S)."""
        return (pixels.permute(0, 3, 1, 2).float() - self.mean) / self.scale


@final
class FrozenBlocks:
    """The first blocks of a backbone, which do not learn, run by ONNX Runtime: same values, a third of the time."""

    def __init__(self, backbone: FromPixels, count: int, side: int):
        """Take the first ``count`` blocks, at least one."""
        known = sum(end < count - 1 for end in backbone.backbone.ends) + 1
        self._names = [f"known_{number}" for number in range(known)]
        pixels = torch.zeros(1, side, side, 3, dtype=torch.uint8)
        free = dict.fromkeys(("pixels", *self._names), (0,))
        graph = onnx_graph(_Walk(backbone, count), {"pixels": pixels}, self._names, free)
        self._graph = OnnxGraph(graph, torch.get_num_threads())

    def __call__(self, pixels: npt.NDArray[np.uint8]) -> tuple[Tensor, ...]:
        """What is known after these blocks."""
        known = self._graph({"pixels": pixels})
        values = (torch.from_numpy(known[name]) for name in self._names)
        return tuple(maps.contiguous(memory_format=torch.channels_last) for maps in values)


@final
class _Walk(nn.Module):
    """The first blocks of a backbone as a module of their own."""

    def __init__(self, backbone: FromPixels, count: int):
        super().__init__()
        self.whole, self.count = backbone, count

    def forward(self, pixels: Tensor) -> tuple[Tensor, ...]:
        """What is known after these blocks."""
        return self.whole.backbone.walk((self.whole.normalised(pixels),), 0, self.count)


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
