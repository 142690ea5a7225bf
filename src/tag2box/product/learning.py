"""Learning a kind of thing from photos that are tagged with it.

B = photos, n = regions of a photo, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, final

import numpy as np

from tag2box.arrays import Array
from tag2box.data import FoundBox
from tag2box.methods.calibration import left_out_scores, read_signs, weight_around
from tag2box.methods.localizers import VmfForeground
from tag2box.methods.localizers.solution import Solution
from tag2box.product.knowledge import Knowledge
from tag2box.types import ProposalBag


@final
@dataclass(frozen=True, eq=False)
class LearnedClass:
    """Where a thing is in the photos that are tagged with it, and how far to trust that."""

    label: str
    fingerprint: str
    """Of the extractor"""
    bags: tuple[ProposalBag, ...]
    solution: Solution[VmfForeground]
    doubts: Array
    """(B,), chance that the box is wrong"""
    absences: Array
    """(B,), chance that the thing is not in the photo at all"""
    threshold: float
    """From which score on a region of a new photo counts as found"""

    @property
    def direction(self) -> Array:
        """(d,), what the photos share."""
        return self.solution.foreground.theta

    def box(self, place: int) -> FoundBox:
        """The thing in the photo at ``place``, scored by the weight around it."""
        bag, weights = self.bags[place], self.solution.localization.weights[place]
        row = int(self.solution.localization.rows[place])
        x0, y0, x1, y1 = (float(edge) for edge in bag.boxes[row])
        return FoundBox(self.label, (x0, y0, x1, y1), weight_around(bag, row, weights), float(self.doubts[place]))


def learn_class(label: str, bags: Sequence[ProposalBag], knowledge: Knowledge, seed: int = 0) -> LearnedClass:
    """Find the thing that the photos share."""
    solution = knowledge.localizer.solve(bags, np.random.default_rng(seed))
    signs = read_signs(solution, bags)
    scores = left_out_scores(signs.directions, bags, knowledge.head)
    calibration = knowledge.calibration
    return LearnedClass(
        label,
        knowledge.fingerprint,
        tuple(bags),
        solution,
        calibration.wrong(signs.wrong),
        calibration.absent(signs.absent),
        calibration.threshold(scores),
    )


def provenance_of(learned: LearnedClass) -> dict[str, Any]:
    """How a class came to be known."""
    return {
        "photos": len(learned.bags),
        "mean_doubt": round(float(learned.doubts.mean()), 4),
        "learned": datetime.now(UTC).isoformat(timespec="seconds"),
    }
