"""Charts of experiments: curves with bands, and bars made of shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from matplotlib.figure import Figure

from tag2box.arrays import Array

SHARE_COLOURS = ("#0a7d3b", "#7f7f7f", "#d55e00", "#e69f00", "#56b4e9", "#0072b2", "#cc79a7")
"""The first is for what is right; all can be told apart by eyes that do not see red or green."""


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """Values over places, with the edges of a band where it is known."""

    places: Array
    values: Array
    low: Array | None = None
    high: Array | None = None


def draw_curves(
    title: str, horizontal: str, vertical: str, curves: Mapping[str, Curve], *, log: bool = False
) -> Figure:
    """Named curves in one picture."""
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.add_subplot(xlabel=horizontal, ylabel=vertical, title=title, yscale="log" if log else "linear")
    for name, curve in curves.items():
        (line,) = axes.plot(curve.places, curve.values, marker="" if len(curve.places) > 30 else "o", label=name)
        if curve.low is not None and curve.high is not None:
            axes.fill_between(curve.places, curve.low, curve.high, color=line.get_color(), alpha=0.15, linewidth=0)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_shares(title: str, kinds: Sequence[str], shares: Mapping[str, Sequence[float]]) -> Figure:
    """A bar for each name, cut into the shares of each kind."""
    figure = Figure(figsize=(9.0, 1.8 + 0.4 * len(shares)), layout="constrained")
    axes = figure.add_subplot(xlabel="share of the query images in %", title=title)
    names = list(shares)
    values = 100.0 * np.array([list(shares[name]) for name in names])  # (names, kinds)
    starts = np.cumsum(values, axis=1) - values
    for number, kind in enumerate(kinds):
        colour = SHARE_COLOURS[number % len(SHARE_COLOURS)]
        axes.barh(names, values[:, number], left=starts[:, number], label=kind, color=colour)
    axes.invert_yaxis()
    figure.legend(frameon=False, ncols=4, loc="outside lower center")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
