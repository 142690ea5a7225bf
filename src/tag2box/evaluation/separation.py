"""How well a number tells two kinds of things apart."""

from __future__ import annotations

import numpy as np

from tag2box.arrays import Array


def rank_separation(high: Array, low: Array) -> float:
    """How often one of ``high`` is above one of ``low``, a tie counting half: the area under the ROC curve.

    NaN if there is none of one kind.
    """
    if not len(high) or not len(low):
        return float("nan")
    ordered = np.sort(low)
    below, up_to = np.searchsorted(ordered, high, side="left"), np.searchsorted(ordered, high, side="right")
    return float((below + up_to).mean() / (2.0 * len(low)))
