"""Photos with boxes on one self-contained page: no network, opens in any browser, a click shows a photo large.

The page goes to the disk piece by piece, and every photo is read once and stands in it once.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import final

import numpy as np
import numpy.typing as npt
from PIL import Image

from tag2box.arrays import Float32s
from tag2box.files import replacing
from tag2box.viz.palette import NEUTRAL, ink_on

THUMBNAIL, QUALITY = 640, 80
"""Most pixels of a photo's longest side on a page, and how well they are kept."""
ROOM_ABOVE = 0.1
"""Share of a photo's height that a line of words above a box needs."""
NARROWEST, WIDEST = 0.6, 2.4
"""Width over height of the place that a photo gets; others leave some of it empty."""

DIALOG = (
    "<dialog aria-label='Photo, enlarged' tabindex='-1'><div class='stage'></div><p></p>"
    "<button type='button' data-by='-1' aria-label='Previous photo'>‹</button>"
    "<button type='button' data-by='1' aria-label='Next photo'>›</button>"
    "<button type='button' data-by='0' aria-label='Close'>×</button></dialog>"
)

OpenPhoto = Callable[[Path, int], npt.NDArray[np.uint8]]
"""Gives a photo file as upright RGB pixels (h, w, 3), with its longest side scaled to so many pixels."""


@final
@dataclass(frozen=True)
class DrawnBox:
    """A box with a few words."""

    box: Float32s
    """(4,)"""
    words: str
    colour: str = NEUTRAL
    also: tuple[DrawnBox, ...] = ()
    """Boxes at almost the same place, of which only the words are shown"""


@final
@dataclass(frozen=True)
class PagePhoto:
    """A photo as it appears on the page."""

    path: Path
    height: int
    width: int
    boxes: tuple[DrawnBox, ...]
    caption: str = ""

    def longest(self, most: int) -> int:
        """Pixels to open its longest side with: so many at most, and never more than it has."""
        return max(1, min(most, max(self.height, self.width)))


@final
@dataclass(frozen=True)
class PageSection:
    """A heading, a sentence and photos; they may be made while they are written."""

    heading: str
    words: str
    photos: Iterable[PagePhoto]
    film: Iterable[PagePhoto] = ()
    """Small pictures before the photos, in one line"""
    rest: str = ""
    """What is to be said after the photos"""


def write_page(path: Path, title: str, words: str, sections: Sequence[PageSection], open_photo: OpenPhoto) -> None:
    """Write a page with small copies of all photos inside it."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(_page(title, words, sections, _Pictures(open_photo)))


def _page(title: str, words: str, sections: Sequence[PageSection], pictures: _Pictures) -> Iterator[str]:
    style, script = ((files("tag2box") / "assets" / "page" / name).read_text() for name in ("page.css", "page.js"))
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    yield (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; img-src data:; "
        f"style-src 'unsafe-inline'; script-src 'sha256-{allowed}'\">"
        f"<meta name='viewport' content='width=device-width'><title>{escape(title)}</title>"
        f"<style>{style}</style></head><body><h1>{escape(title)}</h1><p>{escape(words)}</p>{_contents(sections)}\n"
    )
    for number, section in enumerate(sections):
        yield f"<section id='s{number}'><h2>{escape(section.heading)}</h2><p>{escape(section.words)}</p>\n"
        for kind, photos in (("film", section.film), ("photos", section.photos)):
            yield from _row(kind, photos, pictures)
        yield f"<p>{escape(section.rest)}</p></section>\n" if section.rest else "</section>\n"
    yield f"{DIALOG}<script>{script}</script></body></html>\n"


def _contents(sections: Sequence[PageSection]) -> str:
    """Links to the sections, if there are several."""
    links = (f"<a href='#s{number}'>{escape(section.heading)}</a>" for number, section in enumerate(sections))
    return f"<nav aria-label='Sections'>{' '.join(links)}</nav>" if len(sections) > 1 else ""


def _row(kind: str, photos: Iterable[PagePhoto], pictures: _Pictures) -> Iterator[str]:
    """The photos one by one, between the marks of their row; nothing if there are none."""
    begun = False
    for photo in photos:
        yield "" if begun else f"<div class='{kind}'>\n"
        yield _figure(photo, pictures)
        begun = True
    yield "</div>\n" if begun else ""


def _figure(photo: PagePhoto, pictures: _Pictures) -> str:
    ratio = photo.width / photo.height
    caption = escape(photo.caption)
    boxes = "".join(_box(drawn, photo) for drawn in photo.boxes)
    return (
        f"<figure style='--ratio:{ratio:.4f};--place:{min(max(ratio, NARROWEST), WIDEST):.4f}'>"
        f"<button type='button' class='photo' aria-label='Enlarge {caption}'>"
        f"<span class='frame'>{pictures.element(photo)}{boxes}</span></button>"
        f"<figcaption title='{caption}'>{caption}</figcaption></figure>\n"
    )


def _box(drawn: DrawnBox, photo: PagePhoto) -> str:
    """A frame at its share of the photo, and its words: outside if there is room, and never beyond the photo."""
    size = np.array([photo.width, photo.height] * 2)
    x0, y0, x1, y1 = (float(edge) for edge in np.clip(drawn.box / size, 0.0, 1.0))
    width, height = max(x1 - x0, 1e-3), max(y1 - y0, 1e-3)
    across, room = ("left", 1.0 - x0) if x0 + x1 < 1.0 else ("right", x1)
    kind = "box doubtful" if drawn.colour == NEUTRAL else "box"
    lines = [_line(one) for one in (drawn, *drawn.also) if one.words]
    up = "above" if y0 >= ROOM_ABOVE * len(lines) else "inside"
    words = f"<span class='words {up} {across}' style='max-width:{100 * room / width:.1f}%'>{''.join(lines)}</span>"
    return (
        f"<span class='{kind}' style='left:{100 * x0:.2f}%;top:{100 * y0:.2f}%;width:{100 * width:.2f}%;"
        f"height:{100 * height:.2f}%;--colour:{drawn.colour}'>{words if lines else ''}</span>"
    )


def _line(drawn: DrawnBox) -> str:
    words = escape(drawn.words)
    return f"<b style='background:{drawn.colour};color:{ink_on(drawn.colour)}' title='{words}'>{words}</b>"


@final
@dataclass(frozen=True)
class _Pictures:
    """The photos that a page has so far: the first time with their pixels, then by reference."""

    open_photo: OpenPhoto
    numbers: dict[Path, tuple[int, int, int]] = field(default_factory=dict)
    """Photo → its number on the page, and the height and width of its small copy"""

    def element(self, photo: PagePhoto) -> str:
        """The markup of a photo."""
        if photo.path in self.numbers:
            number, height, width = self.numbers[photo.path]
            picture = f"<use href='#p{number}'/>"
        else:
            pixels = self.open_photo(photo.path, photo.longest(THUMBNAIL))
            number, (height, width) = len(self.numbers), pixels.shape[:2]
            self.numbers[photo.path] = number, height, width
            picture = f"<image id='p{number}' href='{_data_uri(pixels)}' width='{width}' height='{height}'/>"
        return f"<svg viewBox='0 0 {width} {height}' aria-hidden='true'>{picture}</svg>"


def _data_uri(pixels: npt.NDArray[np.uint8]) -> str:
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, format="JPEG", quality=QUALITY)
    return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"
