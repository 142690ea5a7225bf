"""Pictures, where people would rather look than read."""

from tag2box.viz.em import EmReplay, draw_em
from tag2box.viz.figures import save_figure

__all__ = ["EmReplay", "draw_em", "save_figure"]
