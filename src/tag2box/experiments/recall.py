"""How many objects the regions of a store cover, and what each rule of proposing is worth for that.

t = objects
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from tag2box.arrays import Array, Float32s
from tag2box.boxes import Boxes
from tag2box.data import DatasetImage
from tag2box.evaluation import first_covering, recall_at, size_groups
from tag2box.extract import ProposalRules, SeenPhoto, TwoGraphs
from tag2box.progress import Report
from tag2box.store import FeatureStore
from tag2box.types import Truth

COUNTS = (10, 50, 100, 300)
OVERLAPS = (0.5, 0.7)

OTHER_VALUES: dict[str, tuple[Any, ...]] = {
    "looks": ((1.0,), (1.0, 1.6), (1.0, 2 / 3), (1.0, 4 / 3, 2 / 3), (1.0, 2.0, 2 / 3), (1.0, 1.6, 4 / 3, 2 / 3)),
    "first_overlap": (0.55, 0.6, 0.7),
    "corrected": (400, 600),
    "final_overlap": (0.6, 0.7),
    "second_weight": (0.15, 0.5),
}
"""On either side of the rules that ship."""

UNCHANGED = "as they are"


@final
@dataclass(frozen=True, eq=False)
class CoveredObjects:
    """All objects that count, and for each overlap the rank of the first region that covers each."""

    images: int
    boxes: Float32s
    """(t, 4)"""
    ranks: dict[float, Array]
    """Overlap → (t,)"""

    def recall(self, overlap: float) -> dict[int, float]:
        """Share of the objects that the first so many regions cover."""
        return recall_at(self.ranks[overlap], COUNTS)

    def by_size(self, overlap: float) -> dict[str, tuple[int, dict[int, float]]]:
        """Number of objects and recall of the small, medium and large ones."""
        groups = size_groups(self.boxes)
        return {name: (int(rows.sum()), recall_at(self.ranks[overlap][rows], COUNTS)) for name, rows in groups.items()}


@final
class Cover:
    """Compares regions with objects, photo by photo."""

    def __init__(self) -> None:
        self._boxes: list[Float32s] = []
        self._ranks: dict[float, list[Array]] = {overlap: [] for overlap in OVERLAPS}

    def add(self, truth: Truth, regions: Boxes) -> None:
        """Another photo: its objects, and its regions in their order, without the whole image."""
        self._boxes.append(truth.boxes[~truth.ignore])
        for overlap, found in self._ranks.items():
            found.append(first_covering(regions, self._boxes[-1], overlap))

    def objects(self) -> CoveredObjects:
        """Those of all photos so far."""
        nothing = np.zeros((0, 4), dtype=np.float32)
        ranks = {overlap: np.concatenate([np.zeros(0), *found]) for overlap, found in self._ranks.items()}
        return CoveredObjects(len(self._boxes), np.concatenate([nothing, *self._boxes]), ranks)


def cover_objects(store: FeatureStore, images: Iterable[DatasetImage], report: Report) -> CoveredObjects:
    """Compare the regions of a store with the objects of the images."""
    cover = Cover()
    for done, image in enumerate(images, 1):
        cover.add(image.truth, store.bag(image.image_id).boxes[1:])
        report(done, {})
    return cover.objects()


def recall_by_rules(extractor: TwoGraphs, images: Iterable[DatasetImage], report: Report) -> dict[str, CoveredObjects]:
    """Objects that regions cover under the rules of a model's card, and under those with one changed; by the change."""
    variants = {name: extractor.with_rules(rules) for name, rules in changed_rules(extractor.card.rules).items()}
    covers = {name: Cover() for name in variants}
    for done, image in enumerate(images, 1):
        seen: dict[tuple[int, ...], SeenPhoto] = {}
        for name, variant in variants.items():
            sides = variant.card.sides
            seen[sides] = seen[sides] if sides in seen else variant.see_file(image.path)
            regions = variant.proposer.regions(seen[sides], variant.proposer.candidates(seen[sides]))[1:]
            covers[name].add(image.truth, regions * seen[sides].scale)
        report(done, {})
    return {name: cover.objects() for name, cover in covers.items()}


def changed_rules(rules: ProposalRules) -> dict[str, ProposalRules]:
    """The rules, and the rules with one of them changed, by what is changed."""
    changes = [(name, value) for name, values in OTHER_VALUES.items() for value in values]
    changed = {f"{name} = {_shown(value)}": replace(rules, **{name: value}) for name, value in changes}
    return {UNCHANGED: rules} | {name: other for name, other in changed.items() if other != rules}


def _shown(value: Any) -> str:
    return ", ".join(f"{look:.2f}" for look in value) if isinstance(value, tuple) else str(value)
