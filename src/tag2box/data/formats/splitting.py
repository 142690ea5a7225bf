"""Photos for training, for choosing and for judging: which is for what, its name decides, so that it stays so."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from tag2box.data.labelled import LabelledPhoto

SHARES = {"train": 0.7, "valid": 0.2, "test": 0.1}

Parts = Mapping[str, Sequence[LabelledPhoto]]
"""train, valid and test → their photos."""


def split_photos(photos: Sequence[LabelledPhoto]) -> dict[str, list[LabelledPhoto]]:
    """About seven photos of ten for training, two for choosing and one for judging, by a hash of their names.

    A photo stays where it is when others come or go. Two exceptions: if ``train`` or ``valid`` has no box, a photo
    with boxes moves there from a part that can spare it; and a part that has none then gives its photos to ``train``,
    because nothing can be chosen or judged by photos of nothing.
    """
    places = {photo.name: _place(photo.name) for photo in photos}
    parts = {photo.name: _part_at(places[photo.name]) for photo in photos}
    boxed = sorted((photo.name for photo in photos if photo.boxes), key=lambda name: (places[name], name))
    if len(boxed) > 1:
        _fill("train", boxed, parts)
        _fill("valid", boxed[::-1], parts)
    used = {parts[name] for name in boxed}
    return {
        part: [photo for photo in photos if (parts[photo.name] if parts[photo.name] in used else "train") == part]
        for part in SHARES
    }


def _place(name: str) -> float:
    """Between 0 and 1, the same on every machine."""
    return int.from_bytes(hashlib.sha256(name.encode(errors="surrogatepass")).digest()[:8], "big") / 2**64


def _part_at(place: float) -> str:
    if place < SHARES["train"]:
        return "train"
    return "valid" if place < SHARES["train"] + SHARES["valid"] else "test"


def _fill(part: str, boxed: Sequence[str], parts: dict[str, str]) -> None:
    """Give a part without boxes the first photo of another that can spare it."""
    held = [parts[name] for name in boxed]
    if part not in held:
        spare = next(name for name in boxed if parts[name] == "test" or held.count(parts[name]) > 1)
        parts[spare] = part
