"""A training run on disk: everything that the next step needs, in one safetensors file."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from tag2box.errors import TrainingError
from tag2box.files import replacing

CHECKPOINT_NAME = "checkpoint.safetensors"


def save_checkpoint(path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, identity: str, step: int) -> None:
    """Write weights, the optimizer's moments and the number of steps done; ``identity`` names the run."""
    tensors = {f"network.{name}": values for name, values in network.state_dict().items()}
    for number, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": values for name, values in moments.items()}
    with replacing(path) as temporary:
        contiguous = {name: values.contiguous() for name, values in tensors.items()}
        save_file(contiguous, temporary, metadata={"step": str(step), "identity": identity})


def load_checkpoint(path: Path, network: nn.Module, optimizer: torch.optim.Optimizer, identity: str) -> int:
    """Restore network and optimizer; the number of steps done, which is 0 if there is no checkpoint."""
    if not path.exists():
        return 0
    tensors, about = _read(path)
    if about.get("identity") != identity:
        raise TrainingError(
            f"checkpoint {path} belongs to another run.",
            "the same recipe, classes and photos as when it began",
            "choose another folder, or go back to the recipe that stands in the folder.",
        )
    network.load_state_dict(_under("network.", tensors))
    _restore(optimizer, _under("optimizer.", tensors))
    return int(json.loads(about["step"]))


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """All tensors of a checkpoint, and what it says of itself."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise TrainingError(
            f"checkpoint {path} cannot be read: {error}.", "a whole checkpoint", "delete it to begin again."
        ) from error


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): values for name, values in tensors.items() if name.startswith(prefix)}


def _restore(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, values in tensors.items():
        number, moment = name.split(".")
        state.setdefault(int(number), {})[moment] = values
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
