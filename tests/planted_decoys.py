"""Photos by hand: a decoy that is clearer than the thing, and two regions of no kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from planted_model import planted_model
from samples import random_units, unit
from tag2box.arrays import Array
from tag2box.data import Dataset, DatasetImage
from tag2box.methods.spread import Spread
from tag2box.model import Model
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import ProposalBag, Truth

D = 64
MODEL = planted_model(D, Spread(np.zeros(D), np.eye(D) / D), axes=30.0)
WHOLE, DECOY, THING = [0, 0, 100, 100], [10, 10, 40, 40], [60, 10, 90, 40]
ELSEWHERE = [[10, 60, 40, 90], [60, 60, 90, 90]]
PHOTOS = 6
"""Of each class."""
ONE, TWO, THREE, FOUR = np.eye(D)[:4]
OTHERS = np.eye(D)[10 : 10 + PHOTOS]
Looks = Mapping[str, tuple[Array | None, Array | None]]
"""Class → what its decoys and its things look like; None for another look in every photo."""


def photo(name: str, decoy: Array | None, thing: Array | None, likely: list[int]) -> ProposalBag:
    """The detector takes what is in the box ``likely`` for an object."""
    rng = np.random.default_rng(list(name.encode()))
    looks = ((None, 0.0), (decoy, 0.1), (thing, 1.2), (None, 0.0), (None, 0.0))
    strange = random_units(rng, len(looks), D)
    rows = [
        row if look is None else unit(look + noise * row) for (look, noise), row in zip(looks, strange, strict=True)
    ]
    boxes = [WHOLE, DECOY, THING, *ELSEWHERE]
    return ProposalBag.from_raw(name, boxes, np.stack(rows), [0.9 if box == likely else 0.5 for box in boxes])


def stored(folder: Path, bags: Sequence[ProposalBag]) -> FeatureStore:
    with StoreWriter(folder, StoreHeader("x", D)) as writer:
        for bag in bags:
            writer.append(bag)
    return FeatureStore(folder)


def by_hand(folder: Path, looks: Looks, likely: list[int] = DECOY) -> tuple[Dataset, FeatureStore, Model]:
    bags, images = list[ProposalBag](), list[DatasetImage]()
    for label, (decoy, thing) in looks.items():
        for number in range(PHOTOS):
            look = OTHERS[number] if thing is None else thing
            bags.append(photo(f"{label}-{number}", decoy, look, likely))
            no = np.zeros(1, dtype=bool)
            truth = Truth(bags[-1].image_id, [THING], np.array([label]), no, no)  # type: ignore[arg-type]
            images.append(DatasetImage(Path(bags[-1].image_id), 100, 100, truth))
    return Dataset(tuple(looks), tuple(images)), stored(folder, bags), MODEL


DECEIVED: Looks = {"one": (ONE, TWO), "two": (THREE, FOUR)}
