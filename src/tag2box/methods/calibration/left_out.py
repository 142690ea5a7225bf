"""How support photos would score if they were new: each by the direction that the others have.

B = photos, d = feature dimension
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tag2box.arrays import Array
from tag2box.methods.detectors import LikenessHead
from tag2box.types import ProposalBag

HeadMaker = Callable[[Sequence[str], Array], LikenessHead]
"""Makes the head of some classes from their directions (C, d)."""


def left_out_scores(directions: Array, bags: Sequence[ProposalBag], make_head: HeadMaker) -> Array:
    """(B,), the best score of each photo under the direction (B, d) that was found without it."""
    head = make_head([str(number) for number in range(len(bags))], directions)
    return np.array([head.score(bag)[:, number].max() for number, bag in enumerate(bags)])
