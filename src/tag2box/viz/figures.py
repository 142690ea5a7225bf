"""Figures on disk."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from tag2box.files import replacing


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG, by the name's ending, atomically."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix.lstrip("."), dpi=110)
