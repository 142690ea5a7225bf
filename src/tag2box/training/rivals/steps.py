"""The steps by which the networks of rivals learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import nn

from tag2box.progress import Report

WARM_UP = 0.05
"""Share of the steps in which the rate rises; then it falls."""
REPORTED = 20
"""Every so many steps are told."""


class Pace(Protocol):
    """How many steps, and how large ones."""

    @property
    def steps(self) -> int:
        """How many."""
        ...

    @property
    def learning_rate(self) -> float:
        """The highest."""
        ...

    @property
    def largest_gradient(self) -> float:
        """Longer ones are cut."""
        ...


def take_steps(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    pace: Pace,
    loss_of: Callable[[], torch.Tensor],
    report: Report,
) -> None:
    """Lower the loss, each time on what ``loss_of`` draws."""
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, pace.learning_rate, pace.steps, pct_start=WARM_UP)
    for step in range(1, pace.steps + 1):
        loss = loss_of()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), pace.largest_gradient)
        optimizer.step()
        schedule.step()
        if step % REPORTED == 0 or step == pace.steps:
            report(step, {"loss": loss.item()})
