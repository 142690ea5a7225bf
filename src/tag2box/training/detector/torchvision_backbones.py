"""The backbones of the paper, from torchvision: VGG16 and ResNet-50 without their classifiers.

torchvision's wheel is built against CUDA. Beside a CPU torch its operators do not load, and it then fails on import,
because it describes two of them that nobody has declared. The backbones need none: declared without a body, those two
let the rest of torchvision in.

B = images; H, W = height and width of the input, multiples of 32
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Self, final

import torch
from torch import Tensor, nn

from tag2box.training.detector.backbones import IMAGENET_DEVIATION, IMAGENET_MEAN, Backbone, read_weights

VGG_FINE, VGG_MIDDLE = 23, 30
"""In torchvision's list of layers, where conv4_3 and conv5_3 end, each with its ReLU."""
DESCRIBED = ("nms", "qnms")
"""Operators that torchvision describes to torch even if it could not load them."""


@final
class Vgg16(Backbone):
    """Maps of strides 8, 16 and 32, of 512 channels: conv4_3, conv5_3 and pool5."""

    channels = (512, 512, 512)
    pixel_mean = IMAGENET_MEAN
    pixel_scale = IMAGENET_DEVIATION
    ends = (0, 1, 2)

    def __init__(self, features: nn.Sequential):
        super().__init__()
        self.fine = features[:VGG_FINE]
        self.middle = features[VGG_FINE:VGG_MIDDLE]
        self.coarse = features[VGG_MIDDLE:]

    @property
    def blocks(self) -> list[nn.Module]:
        """What comes up to conv4_3, conv5, and the last pooling."""
        return [self.fine, self.middle, self.coarse]


@final
class ResNet50(Backbone):
    """Maps of strides 8, 16 and 32, of 512 to 2,048 channels: the last three groups of blocks.

    Batch norms stay as they came.
    """

    channels = (512, 1024, 2048)
    pixel_mean = IMAGENET_MEAN
    pixel_scale = IMAGENET_DEVIATION
    ends = (0, 1, 2)

    def __init__(self, network: Any):
        super().__init__()
        stem = (network.conv1, network.bn1, network.relu, network.maxpool)
        self.fine = nn.Sequential(*stem, network.layer1, network.layer2)
        self.middle, self.coarse = network.layer3, network.layer4
        for norm in self._norms():
            norm.requires_grad_(False)
        self.train()

    @property
    def blocks(self) -> list[nn.Module]:
        """What comes up to the second group, the third and the fourth."""
        return [self.fine, self.middle, self.coarse]

    def train(self, mode: bool = True) -> Self:
        """Everything but the batch norms in training mode: a batch of a detector is too small to measure by."""
        super().train(mode)
        for norm in self._norms():
            norm.eval()
        return self

    def _norms(self) -> list[nn.BatchNorm2d]:
        return [module for module in self.modules() if isinstance(module, nn.BatchNorm2d)]


def load_vgg16(weights: str) -> Vgg16:
    """VGG16 with torchvision's weights of ImageNet, those of a file with torchvision's names, or random ones."""
    models = import_torchvision().models
    with torch.device("meta"):  # its classifier, nine tenths of all weights, is never made
        features: nn.Sequential = models.vgg16(init_weights=False).features
    features.to_empty(device="cpu")
    for layer in features:
        if isinstance(layer, nn.Conv2d):
            _initialise(layer)
    if weights != "random":
        saved = _saved(weights, models.VGG16_Weights.IMAGENET1K_V1)
        prefix = "features."
        features.load_state_dict(
            {name.removeprefix(prefix): values for name, values in saved.items() if name.startswith(prefix)}
        )
    return Vgg16(features)


def load_resnet50(weights: str) -> ResNet50:
    """ResNet-50 with torchvision's weights of ImageNet, those of a file with torchvision's names, or random ones."""
    models = import_torchvision().models
    network = models.resnet50()
    network.fc = nn.Identity()
    if weights != "random":
        saved = _saved(weights, models.ResNet50_Weights.IMAGENET1K_V1)
        network.load_state_dict({name: values for name, values in saved.items() if not name.startswith("fc.")})
    return ResNet50(network)


def _saved(weights: str, of_imagenet: Any) -> dict[str, Tensor]:
    if weights != "imagenet":
        return read_weights(weights)
    downloaded: dict[str, Tensor] = of_imagenet.get_state_dict(progress=False, check_hash=True)
    return downloaded


def _initialise(layer: nn.Conv2d) -> None:
    """Random weights as torchvision draws them, so that nothing fades on the way through a network without norms."""
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


@cache
def import_torchvision() -> ModuleType:
    """The package torchvision, with its own operators where they load."""
    _load_operators()
    for name in DESCRIBED:
        if not hasattr(torch.ops.torchvision, name):
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return import_module("torchvision")


def _load_operators() -> None:
    """Load the compiled operators as torchvision itself would, if they can be loaded."""
    found = find_spec("torchvision")
    folders = found.submodule_search_locations if found is not None else None
    for folder in folders or ():
        for library in Path(folder).glob("_C*"):
            with suppress(OSError):  # built for another torch
                torch.ops.load_library(str(library))  # type: ignore[no-untyped-call]
