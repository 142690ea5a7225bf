"""Colours: which class has which, and whether people can tell them apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tag2box.arrays import Array
from tag2box.viz.palette import BLACK, HUES, NEUTRAL, RIGHT, STEP, WHITE, WRONG, class_colours, ink_on, mixed

EYES = {
    "all colours": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.052]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}
"""What eyes without one kind of cone make of red, green and blue light (Machado, Oliveira and Fernandes 2009)."""

DISTINCT = 15.0
"""Distance in CIELAB at which two colours are not taken for each other; 2.3 can just be noticed."""


def linear(colour: str) -> Array:
    """(3,), amounts of red, green and blue light."""
    shares = np.array(list(bytes.fromhex(colour[1:]))) / 255.0
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def lightness_and_hue(light: Array) -> Array:
    """(3,), the colour in CIELAB."""
    to_xyz = np.array([[0.41246, 0.35758, 0.18044], [0.21267, 0.71515, 0.07218], [0.01933, 0.11919, 0.9503]])
    shares = to_xyz @ np.clip(light, 0.0, 1.0) / np.array([0.95047, 1.0, 1.08883])
    x, y, z = np.where(shares > 216 / 24389, np.cbrt(shares), (24389 / 27 * shares + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("colours", [HUES, (RIGHT, WRONG, NEUTRAL, STEP)], ids=["classes", "judgements"])
def test_colours_can_be_told_apart_by_all_eyes(eyes: str, colours: tuple[str, ...]) -> None:
    seen = {colour: lightness_and_hue(EYES[eyes] @ linear(colour)) for colour in colours}
    for one, other in combinations(colours, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > DISTINCT, f"{one} and {other}"


@given(st.sets(st.text(min_size=1), min_size=1, max_size=30), st.randoms())
def test_the_colours_depend_on_the_set_of_classes_alone(classes: set[str], shuffler: object) -> None:
    shuffled = sorted(classes, key=lambda _: shuffler.random())  # type: ignore[attr-defined]
    assert class_colours(shuffled) == class_colours([*shuffled, *shuffled]) == class_colours(classes)
    assert class_colours(classes).keys() == classes


def test_twenty_one_classes_have_colours_of_their_own_and_then_they_come_again() -> None:
    colours = list(class_colours(f"{number:02}" for number in range(22)).values())
    assert tuple(colours[:7]) == HUES
    assert len(set(colours[:21])) == 21
    assert colours[21] == colours[0]


def test_words_can_be_read_on_every_colour() -> None:
    for colour in (*class_colours(map(str, range(21))).values(), RIGHT, WRONG, NEUTRAL, STEP):
        dark, bright = sorted(
            float(np.array([0.2126, 0.7152, 0.0722]) @ linear(each)) for each in (colour, ink_on(colour))
        )
        assert (bright + 0.05) / (dark + 0.05) >= 4.5, colour  # WCAG 2, AA
    assert (ink_on("#ffff00"), ink_on("#000080")) == (BLACK, WHITE)


def test_mixing_by_hand() -> None:
    assert mixed("#ff8000", WHITE, 0.5) == "#ffc080"
    assert mixed("#ff8000", BLACK, 0.0) == "#ff8000"
