"""A data folder and a store folder with planted images: everything that experiments need, in a second; and a result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tag2box.data import held_out_classes, load_split, read_dataset
from tag2box.evaluation import Interval, Verdict
from tag2box.experiments.bench.results import RowResult
from tag2box.experiments.bench.sources import BASE, SAME_SCENE, annotation_file
from tag2box.experiments.bench.specification import PRECISION, QUERY, SUPPORT
from tag2box.experiments.bench.workbench import Workbench
from tag2box.experiments.composed import BOXES_NAME, PHOTOS, in_round
from tag2box.extract import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH, Card, write_card
from tag2box.store import StoreHeader, StoreWriter
from tag2box.worlds import DISTRACTOR, PlantedImage, World, plant_image

WORLD = World(dimension=64, classes=8, regions=(20, 30), distractors=(0, 1))
IMAGES = 14
"""Of each class."""
BASE_STORES = ("coco60-base", "coco60-held-out")


def plant_bench(folder: Path, images: int = IMAGES) -> Workbench:
    """VOC07 with four classes, the novel pool and base images with as many, and features of them all.

    The model has not learned the held-out classes. What is composed of base images is planted too.
    """
    split = load_split("coco60")
    held_out = held_out_classes(split.base)
    learned = [label for label in split.base if label not in held_out]
    bench = Workbench(folder / "data", folder / "store", _plant_detector(folder / "model", learned))
    for file, names, stores in (
        ("voc07/test.json", ("bird", "boat", "cat", "cow"), ["voc07"]),
        ("coco60/novel_pool.json", split.novel[:4], ["coco60-novel"]),
        ("coco60/base_val2017.json", (*learned[:4], *held_out[:4]), BASE_STORES),
    ):
        planted = _images(names, images)
        _write_annotations(bench.data / file, [(planted, names)])
        for store in stores:
            _write_features(bench, store, planted)
    _plant_same_scene(bench, held_out[:4], min(images, PHOTOS))
    return bench


def plant_elder_twin(bench: Workbench, folder: Path, images: int = IMAGES) -> Path:
    """A detector that has learned all base classes, and sees base images as the bench's own does."""
    base = load_split("coco60").base
    twin = replace(bench, model=_plant_detector(folder, base))
    names = read_dataset(annotation_file(bench.data, BASE)).classes
    _write_features(twin, BASE_STORES[0], _images(names, images))
    return folder


def _plant_same_scene(bench: Workbench, labels: Sequence[str], images: int) -> None:
    """The photos of every round, under names of their own."""
    rounds = []
    for number in range(1, len(SAME_SCENE) + 1):
        names = [in_round(label, number) for label in labels]
        rounds.append((_images(names, images, first=1 + 1000 * number), names))
    _write_annotations(bench.same_scene / BOXES_NAME, rounds)
    for dataset, (planted, _) in zip(SAME_SCENE, rounds, strict=True):
        _write_features(bench, dataset.replace(" ", "-"), planted)


def _plant_detector(folder: Path, learned: Sequence[str]) -> Path:
    folder.mkdir(parents=True)
    for name in (PHOTO_GRAPH, BOX_GRAPH):
        (folder / name).write_text(f"never run; it has learned {len(learned)} classes")
    write_card(folder / CARD_NAME, Card.of(folder, 96, WORLD.dimension, 0, {}, {"classes": list(learned)}))
    return folder


def _write_features(bench: Workbench, store: str, planted: Sequence[PlantedImage]) -> None:
    bench.folder.mkdir(parents=True, exist_ok=True)
    with StoreWriter(bench.folder / store, StoreHeader(bench.card.fingerprint, WORLD.dimension)) as writer:
        for image in planted:
            writer.append(image.bag)


def some_result(*hits: bool) -> RowResult:
    """Four tasks of two classes."""
    verdicts = tuple((Verdict.right if hit else Verdict.part,) for hit in hits)
    support = tuple((hit, True) for hit in hits)
    figures = {name: Interval(0.5, 0.4, 0.6, 4) for name in (QUERY, SUPPORT, PRECISION)}
    classes, tasks = ("cat", "cat", "dog", "dog"), (0, 1, 2, 3)
    return RowResult(
        figures, {"cat": {QUERY: 0.5, "AP": None}}, classes, tasks, verdicts, support, (0.4, 0.5, 0.5, 0.6), 1.5
    )


def _images(names: Sequence[str], count: int, first: int = 1) -> list[PlantedImage]:
    rng = np.random.default_rng(len(names[0]) + first - 1)
    wanted = WORLD.names[: len(names)] * count
    return [plant_image(WORLD, str(number), [name], rng) for number, name in enumerate(wanted, first)]


def _write_annotations(path: Path, parts: Sequence[tuple[Sequence[PlantedImage], Sequence[str]]]) -> None:
    """One file of images and their classes, which have other names in every part."""
    names = [name for _, some in parts for name in some]
    categories = [{"id": number, "name": name} for number, name in enumerate(names, 1)]
    pictures: list[dict[str, Any]] = []
    boxes: list[dict[str, Any]] = []
    for image, some in ((image, some) for images, some in parts for image in images):
        number = int(image.bag.image_id)
        height, width = image.bag.size
        pictures.append({"id": number, "file_name": f"{number}.jpg", "height": int(height), "width": int(width)})
        for box, label in zip(image.truth.boxes.tolist(), image.truth.labels.tolist(), strict=True):
            if label != DISTRACTOR:
                x0, y0, x1, y1 = box
                kind = 1 + names.index(some[WORLD.names.index(label)])
                entry = {"id": len(boxes) + 1, "image_id": number, "category_id": kind, "iscrowd": 0}
                boxes.append(entry | {"bbox": [x0, y0, x1 - x0, y1 - y0], "area": (x1 - x0) * (y1 - y0)})
    path.parent.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        Image.new("RGB", (320, 240), "grey").save(path.parent / picture["file_name"])
    path.write_text(json.dumps({"images": pictures, "annotations": boxes, "categories": categories}))
