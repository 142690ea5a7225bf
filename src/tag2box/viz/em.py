"""A picture of EM converging.

S = steps, R = regions of all images
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from tag2box.arrays import Array, Bools, Ints
from tag2box.viz.palette import RIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = 4
INK, QUIET = "#222222", "#9a9a9a"


@final
@dataclass(frozen=True, eq=False)
class EmReplay:
    """What EM saw at every step, for one class."""

    likeness: Sequence[Array]
    """S arrays (R,), cosine of each region to the object's direction of that step"""
    weights: Sequence[Array]
    """S arrays (R,), posterior of each region"""
    likelihoods: Sequence[float]
    """(S,)"""
    background: Array
    """(R,), log score of the background"""
    images: Ints
    """(R,), which image a region belongs to; its first region is the whole image"""
    right: Bools
    """(R,), regions that a person would accept; the method never sees this"""


def draw_em(replay: EmReplay, title: str) -> Figure:
    """Regions drifting apart step by step, and the likelihood below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.0, 5.4), layout="constrained")
    grid = figure.add_gridspec(2, PANELS, height_ratios=[3.0, 1.4])
    shown = _shown_steps(len(replay.likelihoods))
    limits = _limits(replay, shown)
    for column, step in enumerate(shown):
        panel = figure.add_subplot(grid[0, column])
        _draw_step(panel, replay, step, limits)
        if column == 0:
            panel.set_ylabel("likeness to background →")
    _draw_likelihood(figure.add_subplot(grid[1, :]), replay.likelihoods, shown)
    figure.suptitle(title, fontsize=13, color=INK)
    return figure


def _shown_steps(count: int) -> list[int]:
    """At most four steps: the first two, one on the way and the last."""
    last = count - 1
    return sorted({0, min(1, last), min(max(2, last // 2), last), last})


def _limits(replay: EmReplay, shown: Sequence[int]) -> tuple[float, float]:
    values = np.concatenate([replay.likeness[step] for step in shown])
    margin = 0.05 * float(np.ptp(values)) + 1e-9
    return float(values.min()) - margin, float(values.max()) + margin


def _draw_step(panel: Axes, replay: EmReplay, step: int, limits: tuple[float, float]) -> None:
    x, y, weights = replay.likeness[step], replay.background, replay.weights[step]
    panel.scatter(x, y, s=8, c=QUIET, alpha=0.35, linewidths=0)
    panel.scatter(x, y, s=320 * weights, c=replay.images, cmap="tab10", vmin=0, vmax=9, alpha=0.8, linewidths=0)
    whole = np.flatnonzero(np.diff(replay.images, prepend=-1))
    panel.scatter(x[whole], y[whole], s=40, marker="s", facecolors="none", edgecolors=QUIET, linewidths=0.8)
    panel.scatter(x[replay.right], y[replay.right], s=60, facecolors="none", edgecolors=RIGHT, linewidths=1.0)
    on_object = float(weights[replay.right].sum() / max(weights.sum(), 1e-300))
    panel.set_title(f"step {step}: {on_object:.0%} of the weight is right", fontsize=10, color=INK)
    panel.set_xlabel("likeness to the object →")
    panel.set_xlim(*limits)
    panel.set_xticks([])
    panel.set_yticks([])


def _draw_likelihood(panel: Axes, likelihoods: Sequence[float], shown: Sequence[int]) -> None:
    steps = np.arange(len(likelihoods))
    panel.plot(steps, likelihoods, color=INK, linewidth=1.5)
    panel.plot(shown, np.asarray(likelihoods)[list(shown)], "o", color=RIGHT, markersize=6)
    panel.set_xticks(steps)
    panel.set_xlabel("EM step (dots: shown above)")
    panel.set_ylabel("log likelihood")
    panel.spines[["top", "right"]].set_visible(False)
