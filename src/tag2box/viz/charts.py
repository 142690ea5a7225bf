"""Charts of experiments and trainings: curves with bands, bars made of shares, losses; and their files.

matplotlib is imported where a chart is drawn: whoever draws none does not wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from tag2box.arrays import Array
from tag2box.errors import InputError
from tag2box.files import replacing
from tag2box.viz.palette import SHARES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".svg", ".png")
WINDOW = 50
"""Steps that a point of a curve of losses is the mean of."""


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
    from matplotlib.figure import Figure

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
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 1.8 + 0.4 * len(shares)), layout="constrained")
    axes = figure.add_subplot(xlabel="share of the query images in %", title=title)
    names = list(shares)
    values = 100.0 * np.array([list(shares[name]) for name in names])  # (names, kinds)
    starts = np.cumsum(values, axis=1) - values
    for number, kind in enumerate(kinds):
        axes.barh(names, values[:, number], left=starts[:, number], label=kind, color=SHARES[number % len(SHARES)])
    axes.invert_yaxis()
    figure.legend(frameon=False, ncols=4, loc="outside lower center")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_losses(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write one curve a loss, each smoothed over a few steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot(xlabel="step", ylabel="loss", yscale="log", title="Training")
    names = [name for name in (lines[0] if lines else {}) if name not in {"step", "seconds"}]
    for name in names:
        values = np.array([line.get(name, np.nan) for line in lines])
        width = min(WINDOW, len(values))
        smooth = np.convolve(values, np.full(width, 1.0 / width), mode="valid")
        axes.plot(np.arange(len(smooth)) + width, smooth, label=name)
    if names:
        axes.legend(frameon=False)
    save_figure(figure, path)


def require_chart(path: Path) -> None:
    """Raise if a chart cannot be written under that name: better before the work than after it."""
    if path.suffix not in KINDS:
        raise InputError(
            f"a chart cannot be written to {path}.", f"a name that ends in {' or '.join(KINDS)}", "choose such a name."
        )


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG, by the name's ending, atomically; the same figure gives the same file."""
    require_chart(path)
    from matplotlib import rc_context

    kind = path.suffix.lstrip(".")
    undated = {"Date": None} if kind == "svg" else {}
    with replacing(path) as temporary, rc_context({"svg.hashsalt": "tag2box"}):
        figure.savefig(temporary, format=kind, dpi=110, metadata=undated)
