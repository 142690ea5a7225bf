"""Pictures, where people would rather look than read."""

from tag2box.viz.charts import Curve, draw_curves, draw_losses, draw_shares, require_chart, save_figure
from tag2box.viz.drawings import (
    LONGEST,
    detected_boxes,
    draw_detections,
    draw_photo,
    draw_sheet,
    drawing_paths,
    picture_with,
)
from tag2box.viz.em import EmReplay, draw_em
from tag2box.viz.pages import DrawnBox, OpenPhoto, PagePhoto, PageSection, write_page
from tag2box.viz.palette import NEUTRAL, RIGHT, STEP, WRONG, class_colours

__all__ = [
    "LONGEST",
    "NEUTRAL",
    "RIGHT",
    "STEP",
    "WRONG",
    "Curve",
    "DrawnBox",
    "EmReplay",
    "OpenPhoto",
    "PagePhoto",
    "PageSection",
    "class_colours",
    "detected_boxes",
    "draw_curves",
    "draw_detections",
    "draw_em",
    "draw_losses",
    "draw_photo",
    "draw_shares",
    "draw_sheet",
    "drawing_paths",
    "picture_with",
    "require_chart",
    "save_figure",
    "write_page",
]
