"""Photos with coloured quarters, and a detector for them without a network: what one word moves is known beforehand."""

from __future__ import annotations

import pytest
from PIL import Image

from planted_extractor import planted_world
from tag2box import FewShotDetector
from tag2box.model import Model
from tag2box.product.events import Listener

WIDTH, HEIGHT = 80, 60
PAINT = {"red": (250, 0, 0), "green": (0, 250, 0), "blue": (0, 0, 250)}
TAGS = [["toy"]] * 4 + [["sea"]] * 3


def quarter(number: int) -> tuple[float, float, float, float]:
    """The quarters of a photo go round: 0, 1, 2, 3, and 4 is 0 again."""
    x, y = 40.0 * (number % 2), 30.0 * (number % 4 // 2)
    return (x, y, x + 40.0, y + 30.0)


def painted(shade: int, **quarters: int) -> Image.Image:
    """A photo of a dull colour with one quarter of each bright one; dark stripes make a green one less clear."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), (shade, 90, 90))
    for colour, number in quarters.items():
        x0, y0, x1, y1 = map(int, quarter(number))
        picture.paste(PAINT[colour], (x0, y0, x1, y1))
        for stripe in range(x0 + 4, x1, 10) if colour == "green" else ():
            picture.paste(0, (stripe, y0, stripe + 2, y1))
    return picture


def toy_photos() -> list[Image.Image]:
    """Four photos with a red and a green quarter, of which tags alone find the red ones, and three with a blue one."""
    toys = [painted(number, red=number, green=number + 1) for number in range(4)]
    return [*toys, *(painted(number, blue=number) for number in range(4, 7))]


def untaught_detector(monkeypatch: pytest.MonkeyPatch, listen: Listener | None = None) -> FewShotDetector:
    """A detector with the planted extractor."""
    model, _ = planted_world()
    monkeypatch.setattr(Model, "open", lambda *_, **__: model)
    return FewShotDetector(listen=listen)


def toy_detector(monkeypatch: pytest.MonkeyPatch, listen: Listener | None = None) -> FewShotDetector:
    """A detector that has learned toys and the sea."""
    return untaught_detector(monkeypatch, listen).fit(toy_photos(), TAGS)
