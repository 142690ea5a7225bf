"""A dataset that trains in seconds: coloured rectangles on grey noise, one colour a class."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tag2box.data import read_coco
from tag2box.training.detector.examples import Examples, training_examples
from tag2box.training.detector.recipe import Recipe

COLOURS = {"truck": (230, 20, 20), "zebra": (20, 20, 230)}


def write_photos(folder: Path, count: int = 6, width: int = 96, height: int = 64) -> Path:
    """Photos with one object each, and the COCO file that says where it is."""
    rng = np.random.default_rng(0)
    images, annotations = [], []
    for number in range(count):
        pixels = rng.integers(90, 160, size=(height, width, 3), dtype=np.uint8)
        label = list(COLOURS)[number % 2]
        x, y = int(rng.integers(0, width - 40)), int(rng.integers(0, height - 36))
        pixels[y : y + 36, x : x + 40] = COLOURS[label]
        Image.fromarray(pixels).save(folder / f"{number}.png")
        images.append({"id": number, "file_name": f"{number}.png", "height": height, "width": width})
        annotations.append({"image_id": number, "category_id": number % 2, "bbox": [x, y, 40, 36]})
    categories = [{"id": place, "name": label} for place, label in enumerate(COLOURS)]
    path = folder / "boxes.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    return path


def read_examples(path: Path) -> Examples:
    """The examples of a COCO file that labels everything there is."""
    return training_examples([read_coco(path)], tuple(COLOURS), [])


TINY: dict[str, Any] = {
    "backbone_weights": "random",
    "image_size": 64,
    "channels": 16,
    "region_channels": 16,
    "embedding": 8,
    "core": False,
    "objectness_share": 0.0,
    "steps": 8,
    "batch": 2,
    "regions": 12,
    "warm_up": 2,
    "checkpoint_every": 3,
}


def tiny_recipe(**changes: Any) -> Recipe:
    """A recipe that takes hundredths of a second a step."""
    return Recipe(**(TINY | changes))
