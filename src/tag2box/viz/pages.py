"""Photos with boxes on one self-contained page: no network, no scripts, opens in any browser."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import final

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


def write_page(path: Path, title: str, words: str, sections: Sequence[PageSection]) -> None:
    """Write a page with all photos inside it."""
    body = "".join(_section(section) for section in sections)
    page = (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(title)}</title><style>{STYLE}</style>"
        f"<meta name='viewport' content='width=device-width'><h1>{escape(title)}</h1><p>{escape(words)}</p>{body}"
    )
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _section(section: PageSection) -> str:
    photos = "".join(_figure(photo) for photo in section.photos)
    return f"<h2>{escape(section.heading)}</h2><p>{escape(section.words)}</p><div class='photos'>{photos}</div>"


def _figure(photo: PagePhoto) -> str:
    content = base64.b64encode(photo.path.read_bytes()).decode()
    boxes = "".join(_box(drawn) for drawn in photo.boxes)
    picture = f"<image href='data:image/jpeg;base64,{content}' width='{photo.width}' height='{photo.height}'/>"
    svg = f"<svg viewBox='0 0 {photo.width} {photo.height}' role='img'>{picture}{boxes}</svg>"
    return f"<figure>{svg}<figcaption>{escape(photo.caption)}</figcaption></figure>"


def _box(drawn: DrawnBox) -> str:
    x0, y0, x1, y1 = (float(edge) for edge in drawn.box)
    rectangle = (
        f"<rect x='{x0:.1f}' y='{y0:.1f}' width='{x1 - x0:.1f}' height='{y1 - y0:.1f}' stroke='{drawn.colour}'/>"
    )
    return f"{rectangle}<text x='{x0 + 4:.1f}' y='{y0 + 17:.1f}'>{escape(drawn.words)}</text>"
