"""How a training run's losses fell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tag2box.viz.figures import save_figure

WINDOW = 50
"""Steps that a point of the curve is the mean of."""


def draw_losses(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write one curve a loss, each smoothed over a few steps."""
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
