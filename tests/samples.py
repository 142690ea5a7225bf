"""Small values that many tests need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tag2box.arrays import Array
from tag2box.methods.knowledge import Knowledge
from tag2box.methods.localizers import BagStack, EmRun, VmfBackground, VmfMil, fit_gaussian_background, run_em
from tag2box.methods.localizers.em import F
from tag2box.methods.rivals import AppearanceObjectness, BaseClassifiers, RelationNetwork, Schooling, SilcoNetwork
from tag2box.methods.spread import Spread
from tag2box.methods.view import View, raw_features, signed_power, tukey_features
from tag2box.rows import Directions
from tag2box.sphere import VonMisesFisher, fit_vmf
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


def floor_and_thing(rng: np.random.Generator, number: int) -> ProposalBag:
    """Nine tiles of the same floor as in every other photo, and one thing, the last row, on the tile of its number."""
    tiles = [[x, y, x + 30, y + 30] for y in (0, 30, 60) for x in (0, 30, 60)]
    floor, thing = np.eye(12)[0], np.eye(12)[1]
    rows = [floor + 0.1 * rng.standard_normal(12) for _ in tiles]
    x, y, *_ = tiles[number]
    boxes = [[0, 0, 90, 90], *tiles, [x + 5, y + 5, x + 25, y + 25]]
    return ProposalBag.from_raw(
        str(number), boxes, [np.mean(rows, axis=0), *rows, thing + 0.15 * rng.standard_normal(12)], np.full(11, 0.5)
    )


def paper_method(world: World) -> VmfMil:
    """vMF-MIL with a background fitted on base regions of the world, and its concentration for the object."""
    background = fit_vmf(plant_background(world, 5000))
    return VmfMil(background.kappa, VmfBackground(background))


def some_knowledge(d: int = 5, fingerprint: str = "an extractor") -> Knowledge:
    """What a model could know of base regions."""
    features = np.random.default_rng(0).standard_normal((10 * d, d))
    direction = unit(features[0])
    spread = Spread(features.mean(axis=0), np.cov(features.T))
    return Knowledge(
        fingerprint,
        0.1 * direction,
        VmfBackground(VonMisesFisher(direction, 3.0)),
        VmfBackground(VonMisesFisher(unit(features[2]), 4.0)),
        spread,
        spread.loudest(d),
        fit_gaussian_background(features, raw_features),
        fit_gaussian_background(signed_power(features, 0.5), tukey_features),
        AppearanceObjectness(features[1], 0.5),
        images=7,
        regions=len(features),
        schooling=some_schooling(d),
    )


def some_relations(d: int = 5, size: int = 4, seed: int = 0) -> RelationNetwork:
    """A relation network that has learned nothing."""
    rng = np.random.default_rng(seed)
    shapes = [(d, size), (size,), (2, size, size), (size,), (2, size, size), (size,), (size,), (1,)]
    return RelationNetwork(*(rng.standard_normal(shape).astype(np.float32) for shape in shapes))


def some_silco(d: int = 5, size: int = 4, grows: int = 3, layers: int = 2) -> SilcoNetwork:
    """SILCO's modules, which have learned nothing."""
    half, rng = size // 2, np.random.default_rng(0)
    shapes = {"enter": (d, size), "back": (half, size), "fuse": (size, size), "head": (size, 1)}
    shapes |= dict.fromkeys(("query", "key", "value"), (size, half))
    for layer in range(layers):
        node = size + grows * layer
        shapes |= {f"graph.{layer}.adjacency.0": (node, 3), f"graph.{layer}.adjacency.1": (3, 1)}
        shapes[f"graph.{layer}.update"] = (2 * node, grows if layer < layers - 1 else 1)
    tensors = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    tensors |= {f"{name}.bias": rng.standard_normal(shape[1]) for name, shape in shapes.items()}
    return SilcoNetwork({name: values.astype(np.float32) for name, values in tensors.items()})


def some_schooling(d: int = 5) -> Schooling:
    """What rivals could have learned."""
    rng = np.random.default_rng(1)
    images, regions = (unit(rng.standard_normal((7, d))).astype(np.float32) for _ in range(2))
    classifiers = BaseClassifiers(images, regions, images.mean(axis=0), np.eye(d, dtype=np.float32))
    return Schooling(some_relations(d), classifiers, some_silco(d))


def exact_em(bags: BagStack, start: F, *, max_steps: int, tol: float) -> EmRun[F]:
    """EM in double precision: what the mathematics says, where the product's kernel is content with single."""
    wide = [view.directions.dense().astype(np.float64) for view in bags.views]
    views = [
        View(Directions.of(rows, bags.dimension, np.ones(len(rows))), view.background)
        for rows, view in zip(wide, bags.views, strict=True)
    ]
    return run_em(replace(bags, views=tuple(views)), start, max_steps=max_steps, tol=tol)


def remade(bag: ProposalBag, **changes: object) -> ProposalBag:
    """A bag made anew, with some of what it is made of changed."""
    names = ("image_id", "boxes", "features", "objectness", "norms")
    return ProposalBag(**{name: getattr(bag, name) for name in names} | changes)
