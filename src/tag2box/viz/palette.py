"""The colours of all pictures: of classes, of judgements, of charts.

Eyes that do not see red, green or blue can tell the judgements apart, and the first seven classes (the colours of Okabe
and Ito). The next fourteen are the same, lighter and darker: there the words at the boxes help.
"""

from __future__ import annotations

from collections.abc import Iterable

RIGHT, WRONG, NEUTRAL, STEP = "#009e73", "#cc3311", "#f0b429", "#56b4e9"
"""Of boxes that are judged: right or safe, wrong, neither or doubtful, on the way."""

SHARES = ("#0a7d3b", "#7f7f7f", "#d55e00", "#e69f00", "#56b4e9", "#0072b2", "#cc79a7")
"""Of the shares of a bar; the first is for what is right."""

HUES = ("#56b4e9", "#d55e00", "#f0e442", "#009e73", "#cc79a7", "#0072b2", "#e69f00")
"""Of classes; those that are seen best on photos come first."""
LIGHTER, DARKER = 0.55, 0.45
"""How far the second and the third seven are mixed with white and with black."""

BLACK, WHITE = "#000000", "#ffffff"


def class_colours(classes: Iterable[str]) -> dict[str, str]:
    """A colour for each class, which depends on the set of classes alone; after 21 they come again."""
    tones = [(BLACK, 0.0), (WHITE, LIGHTER), (BLACK, DARKER)]
    colours = [mixed(hue, other, share) for other, share in tones for hue in HUES]
    return {name: colours[place % len(colours)] for place, name in enumerate(sorted(set(classes)))}


def ink_on(colour: str) -> str:
    """Black or white, whichever can be read better on the colour."""
    brightness = _luminance(colour)
    return BLACK if (brightness + 0.05) / 0.05 >= 1.05 / (brightness + 0.05) else WHITE


def mixed(colour: str, other: str, share: float) -> str:
    """The colour with a share of another in it."""
    parts = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round((1.0 - share) * one + share * two):02x}" for one, two in parts)


def _channels(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def _luminance(colour: str) -> float:
    """How bright a colour of a screen is, between 0 and 1 (WCAG 2)."""
    shares = [channel / 255.0 for channel in _channels(colour)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
