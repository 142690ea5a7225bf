"""Files of weights, as others publish them."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from tag2box.errors import TrainingError


def require_weights_file(weights: str | Path) -> Path:
    """The file of weights, which must exist."""
    path = Path(weights)
    if not path.is_file():
        raise TrainingError(f"there is no file {path}.", "a file of weights", "set backbone_weights to one.")
    return path


def read_weights(weights: str | Path) -> dict[str, Tensor]:
    """Tensors by name, of a ``.safetensors`` file or of what ``torch.save`` wrote; code in the latter is not run."""
    path = require_weights_file(weights)
    if path.suffix == ".safetensors":
        return load_file(path)
    saved: dict[str, Tensor] = torch.load(path, weights_only=True, map_location="cpu")
    return saved
