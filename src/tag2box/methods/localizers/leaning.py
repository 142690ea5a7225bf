"""Heeding a correction: a person points at one region, and thereby says that another one is wrong.

The scores lean by as little as puts each known region ahead of the best wrong one in its image (docs/method.md, (6.8)).

n = regions of a bag, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, frozen, require_shape
from tag2box.boxes import box_overlaps
from tag2box.methods.localizers.starts import SAME_PLACE, Clamps
from tag2box.types import ProposalBag, require_dimension

ALIKE = 1e-6
"""Squared distance of features that nothing can tell apart."""


@final
@dataclass(frozen=True, eq=False)
class LeaningBackground:
    """What speaks for regions along a direction, as a background that is low there."""

    direction: Array
    """(d,), of any length, as EM sees features"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", frozen(self.direction, np.float64))
        require_shape("direction to lean to", self.direction, (None,))

    def log_score(self, bag: ProposalBag) -> Array:
        """(n,)."""
        require_dimension("direction to lean to", bag, len(self.direction))
        return -bag.directions.along(self.direction)


def lean(
    score: Callable[[ProposalBag], Array],
    seen: Callable[[ProposalBag], ProposalBag],
    bags: Sequence[ProposalBag],
    clamps: Clamps,
    lead: float,
) -> Array | None:
    """(d,), where scores have to lean so that each known region leads the wrong ones by ``lead``; None if all do."""
    leaning: Array | None = None
    for image, row in clamps.known.items():
        bag = bags[image]
        scores = score(bag)
        is_wrong = box_overlaps(bag.boxes, bag.boxes[row : row + 1])[:, 0] < SAME_PLACE  # (n,)
        if not is_wrong.any():
            continue
        rival = int(np.where(is_wrong, scores, -np.inf).argmax())
        missing = lead - float(scores[row] - scores[rival])
        known, wrong = seen(bag).directions.at([row, rival]).astype(np.float64)
        apart = known - wrong
        if missing > 0.0 and apart @ apart > ALIKE:
            change = missing / (apart @ apart) * apart
            leaning = change if leaning is None else leaning + change
    return leaning
