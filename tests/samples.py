"""Small values that many tests need."""

from __future__ import annotations

import numpy as np

from tag2box.arrays import Array
from tag2box.methods.localizers import VmfBackground, VmfMil
from tag2box.sphere import fit_vmf
from tag2box.types import ProposalBag
from tag2box.worlds import World, plant_background


def unit(rows: Array) -> Array:
    """Rows (n, d) or a vector (d,) at length 1."""
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def random_units(rng: np.random.Generator, count: int, d: int) -> Array:
    """(count, d) uniform directions."""
    return unit(rng.standard_normal((count, d)))


def random_boxes(rng: np.random.Generator, count: int, *, side: float = 100.0) -> Array:
    """(count, 4) boxes inside a square."""
    corners = np.sort(rng.uniform(0.0, side, size=(count, 2, 2)), axis=1)
    return corners.reshape(count, 4)


def random_bag(rng: np.random.Generator, regions: int = 7, d: int = 5, image_id: str = "image") -> ProposalBag:
    """A bag with the whole image in front."""
    boxes = np.vstack([[0.0, 0.0, 100.0, 100.0], random_boxes(rng, regions - 1)])
    raw = rng.standard_normal((regions, d))
    return ProposalBag.from_raw(image_id, boxes, raw, rng.uniform(size=regions))


def random_bags(seed: int, images: int = 4, d: int = 5) -> list[ProposalBag]:
    """Ragged bags."""
    rng = np.random.default_rng(seed)
    return [random_bag(rng, int(rng.integers(1, 9)), d, f"image-{number}") for number in range(images)]


def paper_method(world: World) -> VmfMil:
    """vMF-MIL with a background fitted on base regions of the world, and its concentration for the object."""
    background = fit_vmf(plant_background(world, 5000))
    return VmfMil(background.kappa, VmfBackground(background))
