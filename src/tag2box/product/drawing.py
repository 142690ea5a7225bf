"""Photos with what was detected drawn into them."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from tag2box.extract import load_photo
from tag2box.files import replacing
from tag2box.types import Detections

LONGEST = 1600
"""Pixels of a drawn photo's longest side."""
COLOURS = ("#e0452c", "#1a9a5b", "#2c6fe0", "#f2b134", "#8e44ad", "#16a2b8")


def draw_detections(photo: Path, found: Detections, path: Path) -> None:
    """Write a copy of the photo with boxes, classes and scores."""
    loaded = load_photo(photo, LONGEST)
    picture = Image.fromarray(loaded.pixels)
    scale = picture.width / loaded.width
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(18)
    labels = sorted(set(found.labels.tolist()))
    for one in reversed(list(found)):  # the surest on top
        colour = COLOURS[labels.index(one.label) % len(COLOURS)]
        x0, y0, x1, y1 = (edge * scale for edge in one.box)
        pen.rectangle((x0, y0, x1, y1), outline=colour, width=4)
        words = f"{one.label} {one.score:.2f}"
        pen.text((x0 + 6, y0 + 4), words, fill="white", font=font, stroke_width=2, stroke_fill=colour)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        picture.save(temporary, format="JPEG", quality=88)
