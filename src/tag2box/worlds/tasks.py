"""Planted tasks: support and query images of an N-way K-shot problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, require_number, unit_rows
from tag2box.worlds.images import PlantedImage, plant_image
from tag2box.worlds.world import World


@final
@dataclass(frozen=True, eq=False)
class PlantedTask:
    """Images that teach and images that ask."""

    classes: tuple[str, ...]
    support: tuple[PlantedImage, ...]
    queries: tuple[PlantedImage, ...]


def plant_task(world: World, seed: int, *, ways: int = 1, shots: int = 5, queries: int = 1) -> PlantedTask:
    """K images of each of N classes, and so many queries of each; with several classes some images show two."""
    require_number("seed", seed, at_least=0)
    require_number("classes of the world", world.classes, at_least=ways)
    rng = np.random.default_rng([world.seed, 1, seed])
    classes = tuple(world.names[number] for number in rng.permutation(world.classes)[:ways])

    def images(purpose: str, count: int) -> tuple[PlantedImage, ...]:
        wanted = [(label, number) for label in classes for number in range(count)]
        return tuple(
            plant_image(world, f"{purpose}-{label}-{number}", _with_company(label, classes, rng), rng)
            for label, number in wanted
        )

    return PlantedTask(classes, images("support", shots), images("query", queries))


def plant_background(world: World, count: int) -> Array:
    """(count, d) background features of base images, for fitting a background model."""
    features = world.background_features(count, np.random.default_rng([world.seed, 2]))
    return unit_rows("background", np.maximum(features, 0.0))[0] if world.rectified else features


def _with_company(label: str, classes: tuple[str, ...], rng: np.random.Generator) -> tuple[str, ...]:
    """The class, and in a quarter of the images another one of the task."""
    others = [other for other in classes if other != label]
    if others and rng.uniform() < 0.25:
        return label, others[rng.integers(len(others))]
    return (label,)
