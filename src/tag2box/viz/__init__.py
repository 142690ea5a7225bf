"""Pictures, where people would rather look than read."""

from tag2box.viz.charts import Curve, draw_curves, draw_shares
from tag2box.viz.em import EmReplay, draw_em
from tag2box.viz.figures import save_figure
from tag2box.viz.losses import draw_losses
from tag2box.viz.pages import NEUTRAL, RIGHT, WRONG, DrawnBox, OpenPhoto, PagePhoto, PageSection, write_page
from tag2box.viz.sheets import draw_sheet

__all__ = [
    "NEUTRAL",
    "RIGHT",
    "WRONG",
    "Curve",
    "DrawnBox",
    "EmReplay",
    "OpenPhoto",
    "PagePhoto",
    "PageSection",
    "draw_curves",
    "draw_em",
    "draw_losses",
    "draw_shares",
    "draw_sheet",
    "save_figure",
    "write_page",
]
