"""Figures on disk."""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from tag2box.files import replacing


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG, by the name's ending, atomically; the same figure gives the same file."""
    kind = path.suffix.lstrip(".")
    undated = {"Date": None} if kind == "svg" else {}
    with replacing(path) as temporary, rc_context({"svg.hashsalt": "tag2box"}):
        figure.savefig(temporary, format=kind, dpi=110, metadata=undated)
