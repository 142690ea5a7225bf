"""A data folder and a store folder with planted images: everything that experiments need, in a second."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tag2box.data import hold_out_classes, load_split
from tag2box.experiments.bench.workbench import Workbench
from tag2box.extract import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH, Card, write_card
from tag2box.store import StoreHeader, StoreWriter
from tag2box.worlds import DISTRACTOR, PlantedImage, World, plant_image

WORLD = World(dimension=64, classes=8, regions=(20, 30), distractors=(0, 1))
IMAGES = 14
"""Of each class."""


def plant_bench(folder: Path, images: int = IMAGES) -> Workbench:
    """VOC07 with four classes, the novel pool and base images with as many, and features of them all."""
    model = folder / "model"
    model.mkdir(parents=True)
    for name in (PHOTO_GRAPH, BOX_GRAPH):
        (model / name).write_bytes(b"never run")
    split = load_split("coco60")
    held_out = hold_out_classes(split.base, 20)
    learned = [label for label in split.base if label not in held_out]
    write_card(model / CARD_NAME, Card.of(model, 96, WORLD.dimension, 0, {}, {"classes": learned}))
    bench = Workbench(folder / "data", folder / "store", model)
    voc = ("bird", "boat", "cat", "cow")
    for file, names, stores in (
        ("voc07/test.json", voc, ["voc07"]),
        ("coco60/novel_pool.json", split.novel[:4], ["coco60-novel"]),
        ("coco60/base_val2017.json", (*learned[:4], *held_out[:4]), ["coco60-base", "coco60-held-out"]),
    ):
        planted = _images(names, images)
        _write_annotations(bench.data / file, planted, names)
        for store in stores:
            header = StoreHeader(bench.card.fingerprint, WORLD.dimension)
            (bench.folder / store).parent.mkdir(parents=True, exist_ok=True)
            with StoreWriter(bench.folder / store, header) as writer:
                for image in planted:
                    writer.append(image.bag)
    return bench


def _images(names: Sequence[str], count: int) -> list[PlantedImage]:
    rng = np.random.default_rng(len(names[0]))
    wanted = WORLD.names[: len(names)] * count
    return [plant_image(WORLD, str(number), [name], rng) for number, name in enumerate(wanted, 1)]


def _write_annotations(path: Path, images: Sequence[PlantedImage], names: Sequence[str]) -> None:
    categories = [{"id": number, "name": name} for number, name in enumerate(names, 1)]
    pictures: list[dict[str, Any]] = []
    boxes: list[dict[str, Any]] = []
    for image in images:
        number = int(image.bag.image_id)
        height, width = image.bag.size
        pictures.append({"id": number, "file_name": f"{number}.jpg", "height": int(height), "width": int(width)})
        for box, label in zip(image.truth.boxes.tolist(), image.truth.labels.tolist(), strict=True):
            if label != DISTRACTOR:
                x0, y0, x1, y1 = box
                kind = WORLD.names.index(label) + 1
                entry = {"id": len(boxes) + 1, "image_id": number, "category_id": kind, "iscrowd": 0}
                boxes.append(entry | {"bbox": [x0, y0, x1 - x0, y1 - y0], "area": (x1 - x0) * (y1 - y0)})
    path.parent.mkdir(parents=True, exist_ok=True)
    for image in images:
        Image.new("RGB", (320, 240), "grey").save(path.parent / f"{image.bag.image_id}.jpg")
    path.write_text(json.dumps({"images": pictures, "annotations": boxes, "categories": categories}))
