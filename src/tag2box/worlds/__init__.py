"""Planted worlds: seeded bags with known answers, for tests, benchmarks and the demo."""

from tag2box.worlds.images import DISTRACTOR, PlantedImage, PlantedTask, plant_background, plant_image, plant_task
from tag2box.worlds.world import World

__all__ = ["DISTRACTOR", "PlantedImage", "PlantedTask", "World", "plant_background", "plant_image", "plant_task"]
