"""Who computes: one process or several, which torchrun starts, on processors or on GPUs.

Gradients are averaged, and the first process writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

import torch
from torch import distributed, nn

from tag2box.errors import TrainingError, reason_of


@final
@dataclass(frozen=True)
class Workers:
    """Which of how many processes this one is."""

    rank: int
    count: int

    @property
    def writes(self) -> bool:
        """Whether this process writes files and speaks."""
        return self.rank == 0

    def average_gradients(self, network: nn.Module) -> None:
        """Give every process the mean of all gradients; one that has none for some weights counts as zero there."""
        if self.count == 1:
            return
        learning = [weights for weights in network.parameters() if weights.requires_grad]
        gradients = [weights.grad if weights.grad is not None else torch.zeros_like(weights) for weights in learning]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(flat)
        parts = torch.split(flat / self.count, [gradient.numel() for gradient in gradients])
        for weights, part in zip(learning, parts, strict=True):
            weights.grad = part.view_as(weights)


def device_named(name: str) -> torch.device:
    """The device with this name, if something can be computed there; ``auto`` is a GPU where there is one."""
    if name == "auto":
        name = f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.ones(1, device=device).sum().item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # a torch without CUDA asserts that it has it
        raise TrainingError(
            f"nothing can be computed on the device {name!r}: {reason_of(error)}.",
            "auto, cpu, or a GPU of this machine such as cuda:0",
            "choose another with --device, or install a torch for that device.",
        ) from error
    return device


def is_first_worker() -> bool:
    """Whether this process, alone or one of those that torchrun started, is the one that writes."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def joined_workers() -> Iterator[Workers]:
    """The processes that torchrun started, or this one alone."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Workers(0, 1)
        return
    distributed.init_process_group("gloo")
    try:
        yield Workers(distributed.get_rank(), count)
    finally:
        distributed.destroy_process_group()
