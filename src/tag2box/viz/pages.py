"""Photos with boxes on one self-contained page: no network, no scripts, opens in any browser."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import final

import numpy as np
import numpy.typing as npt
from PIL import Image

from tag2box.arrays import Float32s
from tag2box.files import replacing

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fbfaf7; --soft: #6b7480; --right: #1a9a5b;
  --wrong: #e0452c }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaee; --paper: #15181d; --soft: #97a0ab } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1100px;
  margin: 2rem auto; padding: 0 1rem }
h2 { margin: 2.2rem 0 .4rem } p { margin: .2rem 0 .8rem; color: var(--soft) }
.photos { display: grid; grid-template-columns: repeat(auto-fill, minmax(210px, 1fr)); gap: 12px }
figure { margin: 0 } figcaption { font-size: 13px; color: var(--soft); padding: 2px 0 }
svg { width: 100%; height: auto; border-radius: 6px; display: block }
rect { fill: none; vector-effect: non-scaling-stroke; stroke-width: 3 }
text { font: 600 15px system-ui, sans-serif; fill: #fff; paint-order: stroke; stroke: #000a; stroke-width: 4px }
"""

RIGHT, WRONG, NEUTRAL = "var(--right)", "var(--wrong)", "#f2b134"
THUMBNAIL = 420
"""Pixels of a photo's longest side on a page."""

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


@final
@dataclass(frozen=True)
class PagePhoto:
    """A photo as it appears on the page."""

    path: Path
    height: int
    width: int
    boxes: tuple[DrawnBox, ...]
    caption: str = ""


@final
@dataclass(frozen=True)
class PageSection:
    """A heading, a sentence and photos."""

    heading: str
    words: str
    photos: Sequence[PagePhoto]


def write_page(path: Path, title: str, words: str, sections: Sequence[PageSection], open_photo: OpenPhoto) -> None:
    """Write a page with small copies of all photos inside it."""
    body = "".join(_section(section, open_photo) for section in sections)
    page = (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(title)}</title><style>{STYLE}</style>"
        f"<meta name='viewport' content='width=device-width'><h1>{escape(title)}</h1><p>{escape(words)}</p>{body}"
    )
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _section(section: PageSection, open_photo: OpenPhoto) -> str:
    photos = "".join(_figure(photo, open_photo) for photo in section.photos)
    return f"<h2>{escape(section.heading)}</h2><p>{escape(section.words)}</p><div class='photos'>{photos}</div>"


def _figure(photo: PagePhoto, open_photo: OpenPhoto) -> str:
    pixels = open_photo(photo.path, THUMBNAIL)
    height, width = pixels.shape[:2]
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, format="JPEG", quality=82)
    encoded = base64.b64encode(content.getvalue()).decode()
    scale = np.array([width / photo.width, height / photo.height] * 2)
    boxes = "".join(_box(drawn, scale) for drawn in photo.boxes)
    picture = f"<image href='data:image/jpeg;base64,{encoded}' width='{width}' height='{height}'/>"
    svg = f"<svg viewBox='0 0 {width} {height}' role='img'>{picture}{boxes}</svg>"
    return f"<figure>{svg}<figcaption>{escape(photo.caption)}</figcaption></figure>"


def _box(drawn: DrawnBox, scale: npt.NDArray[np.float64]) -> str:
    x0, y0, x1, y1 = (float(edge) for edge in drawn.box * scale)
    rectangle = (
        f"<rect x='{x0:.1f}' y='{y0:.1f}' width='{x1 - x0:.1f}' height='{y1 - y0:.1f}' stroke='{drawn.colour}'/>"
    )
    return f"{rectangle}<text x='{x0 + 4:.1f}' y='{y0 + 17:.1f}'>{escape(drawn.words)}</text>"
