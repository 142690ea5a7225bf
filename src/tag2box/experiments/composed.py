"""Photos as people take them, composed of base photos: things that were cut out, on backgrounds without any.

People photograph parts on one floor, and what such photos share best is the floor. Base photos never share a scene, so
that nothing chosen on them alone can know of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from tag2box.arrays import Array
from tag2box.boxes import box_areas, box_coverage
from tag2box.data import Dataset, DatasetImage, Draws
from tag2box.errors import PoolTooSmallError
from tag2box.files import replacing_folder, write_json
from tag2box.progress import Report

WRITER = "tag2box bench"
BOXES_NAME = "boxes.json"
ROUNDS = 4
"""Every class has another scene in each. In odd ones it has it alone, in even ones it shares it with another class."""
PHOTOS = 10
"""Of a class in a round."""
SIDE = 480
"""Pixels of a photo."""
SMALLEST_THING, SMALLEST_SCENE = 48, 200
"""Pixels of the shorter side in a base photo: smaller ones would be blurred."""
FREE = 0.1
"""A thing of which so much is behind others is not cut out."""
SHARE = (0.14, 0.42)
"""Of the photo's side that a thing's longer side takes."""
CROP = (0.75, 1.0)
"""Of the scene that a photo shows."""
TRIES = 200
"""Places that are tried for a thing beside others."""
WINDOWS = 60
"""Places in a photo that are tried for a scene without things."""
CORNER = 4
"""Power of the rounded outline that a thing is cut along; 2 would be an ellipse."""
SOFT = 0.12
"""Share of the outline's radius over which a thing fades into the scene."""


class Thing(NamedTuple):
    """An object that can be cut out, and the photo that it is in."""

    photo: Path
    box: tuple[int, int, int, int]


class Plan(NamedTuple):
    """Photos to be composed: one thing of each class in all of them, on scenes that take turns."""

    classes: tuple[str, ...]
    things: tuple[list[Thing], ...]
    """For each class, as many as there will be photos"""
    scenes: list[Thing]


def plan_same_scene(dataset: Dataset, classes: Collection[str]) -> list[Plan]:
    """One thing in every photo, and one scene for all photos of a class.

    A class is another one in every round, such as ``dog, round 2``.
    """
    things = _usable_things(dataset, classes)
    scenes = _drawn_scenes(dataset, ROUNDS * len(things))
    plans = []
    for number, first in enumerate(range(0, len(scenes), len(things)), 1):
        for place, (label, all_things) in enumerate(things.items()):
            name = in_round(label, number)
            scene = scenes[first + (place if number % 2 else place - place % 2)]
            plans.append(Plan((name,), (Draws("things", name).sample(all_things, PHOTOS),), [scene]))
    return plans


def plan_three_things(dataset: Dataset, classes: Collection[str]) -> list[Plan]:
    """The same three kinds of things in every photo, each time elsewhere: tags alone cannot tell which is which."""
    things = _usable_things(dataset, classes)
    labels = Draws("threes").sample(list(things), len(things) - len(things) % 3)
    scenes = _drawn_scenes(dataset, PHOTOS * len(labels) // 3)
    return [
        Plan(
            tuple(labels[first : first + 3]),
            tuple(Draws("threes", label).sample(things[label], PHOTOS) for label in labels[first : first + 3]),
            scenes[first // 3 * PHOTOS : (first // 3 + 1) * PHOTOS],
        )
        for first in range(0, len(labels), 3)
    ]


def compose(plans: Sequence[Plan], folder: Path, report: Report) -> None:
    """Write the photos and their boxes, in COCO's format, into ``folder``."""
    categories = [{"id": number, "name": label} for number, label in enumerate(_labels(plans), 1)]
    numbers = {category["name"]: category["id"] for category in categories}
    images: list[dict[str, Any]] = []
    boxes: list[dict[str, Any]] = []
    with replacing_folder(folder, WRITER) as fresh:
        for done, plan in enumerate(plans, 1):
            draws = Draws("composed", *plan.classes)
            for place, things in enumerate(zip(*plan.things, strict=True)):
                photo, found = _composed(plan.scenes[place % len(plan.scenes)], things, draws)
                number, file = len(images) + 1, f"{len(images) + 1:04d}.webp"
                photo.save(fresh / file, quality=90)
                images.append({"id": number, "file_name": file, "width": photo.width, "height": photo.height})
                for label, box in zip(plan.classes, found, strict=True):
                    entry = {"id": len(boxes) + 1, "image_id": number, "category_id": numbers[label], "bbox": box}
                    boxes.append(entry)
            report(done, {})
        write_json(fresh / BOXES_NAME, {"images": images, "annotations": boxes, "categories": categories})


def _labels(plans: Sequence[Plan]) -> list[str]:
    return [label for plan in plans for label in plan.classes]


def _usable_things(dataset: Dataset, classes: Collection[str]) -> dict[str, list[Thing]]:
    """Class → objects that can be cut out, for classes that have enough of them."""
    things = {label: _things(dataset, label) for label in sorted(classes)}
    return {label: found for label, found in things.items() if len(found) >= PHOTOS}


def in_round(label: str, number: int) -> str:
    """The name of a class in a round."""
    return f"{label}, round {number}"


def of_round(composed: Dataset, number: int) -> Dataset:
    """The photos of one round: in another, the same class has another name, and would pass for another thing."""
    classes = [label for label in composed.classes if label.endswith(f", round {number}")]
    return composed.showing(classes).only(classes)


def _things(dataset: Dataset, label: str) -> list[Thing]:
    """Objects of a class that are large enough, whole, and in front of all others."""
    found = []
    for image in dataset.images:
        truth = image.truth
        for place in np.flatnonzero((truth.labels == label) & ~truth.ignore).tolist():
            box = truth.boxes[place]
            others = np.delete(truth.boxes, place, axis=0)
            hidden = box_coverage(others, box[None]).max(initial=0.0) > 0.5 or (
                box_coverage(box[None], others).max(initial=0.0) > FREE
            )
            inside = (box[:2] >= 2).all() and box[2] <= image.width - 2 and box[3] <= image.height - 2
            if inside and not hidden and min(box[2:] - box[:2]) >= SMALLEST_THING:
                x0, y0, x1, y1 = (round(float(edge)) for edge in box)
                found.append(Thing(image.path, (x0, y0, x1, y1)))
    return found


def _drawn_scenes(dataset: Dataset, count: int) -> list[Thing]:
    """So many scenes, each of another photo."""
    found = _scenes(dataset)
    if not 0 < count <= len(found):
        raise PoolTooSmallError(
            f"{count} scenes with things on them were to be composed, of {len(found)} photos with room for a scene.",
            f"classes with {PHOTOS} things that can be cut out, and {ROUNDS} photos for each that have a window of "
            f"{SMALLEST_SCENE} pixels without any object",
            "check the data folder.",
        )
    return Draws("scenes").sample(found, count)


def _scenes(dataset: Dataset) -> list[Thing]:
    """Windows of photos without any labelled object, the largest that was tried in each photo."""
    found = []
    for image in dataset.images:
        windows = _windows(image)
        free = windows[box_coverage(windows, image.truth.boxes).max(axis=1, initial=0.0) == 0]
        if len(free):
            x0, y0, x1, y1 = (round(float(edge)) for edge in free[box_areas(free).argmax()])
            found.append(Thing(image.path, (x0, y0, x1, y1)))
    return found


def _windows(image: DatasetImage) -> Array:
    """(w, 4) windows to try, of several sizes and shapes."""
    if min(image.width, image.height) < SMALLEST_SCENE:
        return np.zeros((0, 4))
    draws, windows = Draws("windows", image.image_id), []
    for _ in range(WINDOWS):
        width = SMALLEST_SCENE + draws.below(image.width - SMALLEST_SCENE + 1)
        height = SMALLEST_SCENE + draws.below(image.height - SMALLEST_SCENE + 1)
        x, y = draws.below(image.width - width + 1), draws.below(image.height - height + 1)
        windows.append((x, y, x + width, y + height))
    return np.array(windows, dtype=np.float64)


def _composed(scene: Thing, things: Sequence[Thing], draws: Draws) -> tuple[Image.Image, list[list[int]]]:
    """Things somewhere on a part of a scene, and their boxes (x, y, width, height)."""
    photo = _part_of(scene, draws)
    boxes: list[list[int]] = []
    for thing in things:
        cut = _opened(thing)
        share = SHARE[0] + (SHARE[1] - SHARE[0]) * draws.below(1001) / 1000
        scale = share * max(photo.size) / max(cut.size)
        width, height = (min(max(8, round(scale * a)), b) for a, b in zip(cut.size, photo.size, strict=True))
        x, y = _free_place(width, height, photo.size, boxes, draws)
        photo.paste(cut.resize((width, height), Image.Resampling.LANCZOS), (x, y), _outline(width, height))
        boxes.append([x, y, width, height])
    return photo, boxes


def _free_place(
    width: int, height: int, size: tuple[int, int], taken: Sequence[Sequence[int]], draws: Draws
) -> tuple[int, int]:
    """A corner for a box, beside what is there, if one of some tries finds room."""
    for _ in range(TRIES):
        x, y = draws.below(size[0] - width + 1), draws.below(size[1] - height + 1)
        if all(x >= a + w or a >= x + width or y >= b + h or b >= y + height for a, b, w, h in taken):
            break
    return x, y


def _part_of(scene: Thing, draws: Draws) -> Image.Image:
    whole = _opened(scene)
    share = CROP[0] + (CROP[1] - CROP[0]) * draws.below(1001) / 1000
    width, height = (round(share * side) for side in whole.size)
    x, y = draws.below(whole.width - width + 1), draws.below(whole.height - height + 1)
    scale = SIDE / max(width, height)
    size = (round(scale * width), round(scale * height))
    return whole.resize(size, Image.Resampling.LANCZOS, (x, y, x + width, y + height))


def _opened(part: Thing) -> Image.Image:
    with Image.open(part.photo) as picture:
        return picture.convert("RGB").crop(part.box)


def _outline(width: int, height: int) -> Image.Image:
    """White inside a rounded outline, black outside, soft between."""
    x, y = (np.abs(2 * (np.arange(side) + 0.5) / side - 1) ** CORNER for side in (width, height))
    radius = (y[:, None] + x[None]) ** (1 / CORNER)
    return Image.fromarray((255 * np.clip((1 - radius) / SOFT, 0, 1)).astype(np.uint8))
