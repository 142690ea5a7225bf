"""Photos with boxes, on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from PIL import Image

from tag2box.data import FoundBox, LabelledPhoto, LabelledPhotos

Contents = Mapping[str, tuple[tuple[int, int], tuple[FoundBox, ...]]]
"""Name → (height, width), boxes."""


@pytest.fixture(scope="session")
def take_photos() -> Callable[[Path, Contents], LabelledPhotos]:
    """A function that writes photos into a folder and says what is in them."""

    def take(folder: Path, contents: Contents) -> LabelledPhotos:
        for name, ((height, width), _) in contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (width, height), (200, 100, 50)).save(path, format="PNG")
        photos = tuple(LabelledPhoto(name, *size, boxes) for name, (size, boxes) in contents.items())
        classes = dict.fromkeys(found.label for photo in photos for found in photo.boxes)
        return LabelledPhotos(folder, tuple(classes), photos)

    return take


@pytest.fixture
def labelled(tmp_path: Path, take_photos: Callable[[Path, Contents], LabelledPhotos]) -> LabelledPhotos:
    """Two photos of one name, one without any box."""
    cup, pen = FoundBox("cup", (1.25, 2.5, 30.75, 39.5), 0.9, 0.1), FoundBox("pen", (10, 10, 50, 40), 0.5, 0.5)
    contents: Contents = {
        "cup/a b.png": ((40, 50), (cup, pen)),
        "pen/a b.png": ((41, 51), (pen,)),
        "_none/c.png": ((20, 10), ()),
    }
    return take_photos(tmp_path / "photos", contents)
