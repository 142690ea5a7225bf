"""Photos with boxes on one picture, for places that show no pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

from tag2box.files import replacing
from tag2box.viz.pages import NEUTRAL, RIGHT, WRONG, OpenPhoto, PagePhoto

COLOURS = {RIGHT: "#1a9a5b", WRONG: "#e0452c", NEUTRAL: NEUTRAL}
TILE, GAP, COLUMNS = (220, 165), 6, 6


def draw_sheet(path: Path, photos: Sequence[PagePhoto], open_photo: OpenPhoto, columns: int = COLUMNS) -> None:
    """Write the photos as tiles, row by row, each with its boxes and their words."""
    rows = -(-len(photos) // columns)
    size = (columns * (TILE[0] + GAP) + GAP, rows * (TILE[1] + GAP) + GAP)
    sheet = Image.new("RGB", size, "white")
    for number, photo in enumerate(photos):
        tile = _tile(photo, open_photo)
        left = GAP + (number % columns) * (TILE[0] + GAP) + (TILE[0] - tile.width) // 2
        top = GAP + (number // columns) * (TILE[1] + GAP) + (TILE[1] - tile.height) // 2
        sheet.paste(tile, (left, top))
    with replacing(path) as temporary:
        sheet.save(temporary, format="PNG")


def _tile(photo: PagePhoto, open_photo: OpenPhoto) -> Image.Image:
    scale = min(TILE[0] / photo.width, TILE[1] / photo.height)
    tile = Image.fromarray(open_photo(photo.path, max(1, round(scale * max(photo.width, photo.height)))))
    pen = ImageDraw.Draw(tile)
    for drawn in photo.boxes:
        box = [float(edge) * scale for edge in drawn.box]
        pen.rectangle(box, outline=COLOURS[drawn.colour], width=3)
        pen.text((box[0] + 5, box[1] + 3), drawn.words, fill="white", stroke_width=2, stroke_fill="black")
    return tile
