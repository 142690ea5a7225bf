"""Photos with boxes drawn into them: one by one, or as tiles of a sheet.

n = boxes; places are x0 y0 x1 y1 in pixels of the drawing
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from tag2box.boxes import Size, box_overlaps
from tag2box.errors import InputError
from tag2box.files import replacing
from tag2box.types import Detections
from tag2box.viz.pages import DrawnBox, OpenPhoto, PagePhoto
from tag2box.viz.palette import BLACK, ink_on

LONGEST, QUALITY = 1600, 90
"""Most pixels of a drawn photo's longest side, and how well they are kept."""
SAME_PLACE = 0.75
"""Boxes of several classes that overlap so far are one box with several labels."""
MOST_LINES = 4
"""Lines of words at one box; where there are more, the last says how many."""
SMALLEST_TEXT, TEXT_SHARE = 13, 0.024
"""Pixels of the words' size: no fewer, or this share of the picture's mean side."""
PALE = 0.4
"""How much is seen of a faint box."""
JPEG_ENDINGS = {".jpg", ".jpeg"}
TILE, GAP, COLUMNS = (220, 165), 6, 6

Font = ImageFont.FreeTypeFont
Place = tuple[float, float, float, float]
Lines = list[tuple[str, str]]
"""Words and their colours"""


def drawing_paths(folder: Path, photos: Iterable[tuple[str, Path]]) -> dict[str, Path]:
    """Name of a photo → file of its drawing: a JPEG of the same name, but no two the same and none among the photos."""
    paths, drawings, taken = dict(photos), dict[str, Path](), set[str]()
    for name in sorted(paths, key=lambda each: Path(each).suffix.lower() not in JPEG_ENDINGS):  # these keep their names
        short = name if Path(name).suffix.lower() in JPEG_ENDINGS else Path(name).with_suffix(".jpg").as_posix()
        wanted = chain([short, f"{name}.jpg"], (f"{name}.{number}.jpg" for number in count(2)))
        drawing = next(each for each in wanted if each.casefold() not in taken)
        taken.add(drawing.casefold())
        drawings[name] = folder / drawing
    homes = {path.parent.resolve() for path in paths.values()}
    for name, path in drawings.items():
        if path.parent.resolve() in homes:
            raise InputError(
                f"the drawing of {name} would lie among the photos to look at, as {path}.",
                "a folder for drawings where none of these photos is",
                "name another folder.",
            )
    return drawings


def draw_detections(
    path: Path,
    photo: Path,
    size: tuple[float, float],
    found: Detections,
    colours: Mapping[str, str],
    open_photo: OpenPhoto,
) -> None:
    """Write a copy of the photo, whose height and width are ``size``, with boxes, classes and scores."""
    height, width = (round(side) for side in size)
    draw_photo(path, PagePhoto(photo, height, width, detected_boxes(found, colours)), open_photo)


def detected_boxes(found: Detections, colours: Mapping[str, str]) -> tuple[DrawnBox, ...]:
    """Boxes to draw, the surest first; where several lie at the same place, one with the words of all."""
    drawn = [
        DrawnBox(box, f"{one.label} {one.score:.2f}", colours[one.label])
        for box, one in zip(found.boxes, found, strict=True)
    ]
    same = box_overlaps(found.boxes, found.boxes) >= SAME_PLACE  # (n, n)
    left, shown = np.ones(len(drawn), dtype=bool), list[DrawnBox]()
    for row, best in enumerate(drawn):
        if left[row]:
            also = [other for other in np.flatnonzero(same[row] & left).tolist() if other > row]
            left[also] = False
            shown.append(replace(best, also=tuple(drawn[other] for other in also)))
    return tuple(shown)


def draw_photo(path: Path, photo: PagePhoto, open_photo: OpenPhoto) -> None:
    """Write a copy of the photo with its boxes as JPEG, no larger than the photo."""
    picture = _drawn(photo, LONGEST, open_photo)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        picture.save(temporary, format="JPEG", quality=QUALITY, subsampling=0)  # thin lines keep their colours


def draw_sheet(path: Path, photos: Sequence[PagePhoto], open_photo: OpenPhoto, columns: int = COLUMNS) -> None:
    """Write the photos as tiles, row by row, each with its boxes and their words."""
    rows = -(-len(photos) // columns)
    size = (columns * (TILE[0] + GAP) + GAP, rows * (TILE[1] + GAP) + GAP)
    sheet = Image.new("RGB", size, "white")
    for number, photo in enumerate(photos):
        scale = min(TILE[0] / photo.width, TILE[1] / photo.height)
        tile = _drawn(photo, round(scale * max(photo.width, photo.height)), open_photo)
        left = GAP + (number % columns) * (TILE[0] + GAP) + (TILE[0] - tile.width) // 2
        top = GAP + (number // columns) * (TILE[1] + GAP) + (TILE[1] - tile.height) // 2
        sheet.paste(tile, (left, top))
    with replacing(path) as temporary:
        sheet.save(temporary, format="PNG")


def picture_with(
    pixels: npt.NDArray[np.uint8], size: Size, boxes: Sequence[DrawnBox], faint: Sequence[DrawnBox] = ()
) -> Image.Image:
    """Pixels of a photo, whose full height and width are ``size``, with its boxes, and pale ones below them."""
    picture = Image.fromarray(pixels)
    if faint:
        below = picture.copy()
        _draw_boxes(below, size, faint)
        picture = Image.blend(picture, below, PALE)
    _draw_boxes(picture, size, boxes)
    return picture


def _drawn(photo: PagePhoto, most: int, open_photo: OpenPhoto) -> Image.Image:
    return picture_with(open_photo(photo.path, photo.longest(most)), (photo.height, photo.width), photo.boxes)


def _draw_boxes(picture: Image.Image, size: Size, boxes: Sequence[DrawnBox]) -> None:
    """Draw the boxes, the first on top, and then the words, so that no line crosses them."""
    pen = ImageDraw.Draw(picture)
    font = _font(max(SMALLEST_TEXT, round(TEXT_SHARE * (picture.width * picture.height) ** 0.5)))
    line = max(3, round(font.size / 7))
    scale = np.array([picture.width / size[1], picture.height / size[0]] * 2)
    places: list[Place] = [tuple((drawn.box * scale).tolist()) for drawn in boxes]
    for (x0, y0, x1, y1), drawn in reversed(list(zip(places, boxes, strict=True))):
        x1, y1 = max(x0, x1 - 1), max(y0, y1 - 1)
        pen.rectangle((x0 - 1, y0 - 1, x1 + 1, y1 + 1), outline=BLACK, width=line + 2)
        pen.rectangle((x0, y0, x1, y1), outline=drawn.colour, width=line)
    _write_all(picture, list(zip(places, map(_lines, boxes), strict=True)), font)


def _lines(drawn: DrawnBox) -> Lines:
    """What is written at a box."""
    lines = [(" ".join(one.words.split()), one.colour) for one in (drawn, *drawn.also) if one.words]
    if len(lines) > MOST_LINES:
        hidden = len(lines) - MOST_LINES + 1
        lines = [*lines[: MOST_LINES - 1], (f"and {hidden} more", drawn.colour)]
    return lines


def _write_all(picture: Image.Image, signs: list[tuple[Place, Lines]], font: Font) -> None:
    """Write the lines of all boxes: the first get the best places, and lie above the others where all is full."""
    pen, margin, high = ImageDraw.Draw(picture), round(font.size / 3), round(font.size * 1.35)
    used: list[Place] = []
    written: list[tuple[Place, Lines]] = []
    for box, lines in signs:
        fitted = [(_shortened(words, font, picture.width - 2 * margin), colour) for words, colour in lines]
        wide = max((font.getlength(words) + 2 * margin for words, _ in fitted), default=0.0)
        used.append(_free_place(box, (wide, high * len(lines)), picture.size, used))
        written.append((used[-1], fitted))
    for (x, top, _, _), lines in reversed(written):
        for y, (words, colour) in zip(count(top, high), lines, strict=False):
            pen.rectangle((x, y, x + font.getlength(words) + 2 * margin - 1, y + high - 1), fill=colour)
            pen.text((x + margin, y + high / 2), words, fill=ink_on(colour), font=font, anchor="lm")


def _free_place(box: Place, wanted: tuple[float, float], size: tuple[int, int], used: list[Place]) -> Place:
    """Above the box, inside it, below it: the first where the picture has room and no other words are."""
    x0, y0, x1, y1 = box
    wide, high = wanted
    left, right = max(0.0, min(x0, size[0] - wide)), max(0.0, min(x1, size[0]) - wide)
    tops = [y0 - high, y0, y1 - high, y1]
    places = [(x, y, x + wide, y + high) for x in (left, right) for y in tops if 0 <= y <= size[1] - high]
    others = np.array(used, dtype=np.float32).reshape(-1, 4)
    for place in places:
        if not (box_overlaps(np.array([place], dtype=np.float32), others) > 0).any():
            return place
    top = max(0.0, min(y0, size[1] - high))
    return places[0] if places else (left, top, left + wide, top + high)


def _shortened(words: str, font: Font, width: float) -> str:
    """The words, or as many of their first letters as have room."""
    kept = len(words)
    while kept > 1 and font.getlength(words[:kept] + "…" * (kept < len(words))) > width:
        kept -= 1
    return words if kept == len(words) else f"{words[:kept].rstrip()}…"


@lru_cache(maxsize=16)
def _font(size: int) -> Font:
    """Bold letters of many alphabets, from matplotlib's folder (which is not imported), or Pillow's own."""
    found = find_spec("matplotlib")
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder) / "mpl-data" / "fonts" / "ttf" / "DejaVuSans-Bold.ttf"
        if path.is_file():
            return ImageFont.truetype(str(path), size)
    return cast(Font, ImageFont.load_default(size))  # the other kind is for no size
