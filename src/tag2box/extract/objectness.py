"""How likely a region frames an object, of whatever class: logistic regression on what both stages believe, and size.

n = regions, m = candidates
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from tag2box.arrays import Array, Float32s, log_odds, sigmoid
from tag2box.boxes import Boxes, box_areas, box_overlaps

EPSILON = 1e-4
"""Nobody is surer than that."""
OBJECTNESS_ENTRIES = 2
"""Of a feature that says how object-like its region is: how much, and how little."""


@final
@dataclass(frozen=True, eq=False)
class Candidates:
    """Boxes after their correction, in pixels of the network's input, and what each stage believes of them."""

    boxes: Float32s
    """(m, 4)"""
    first: Float32s
    """(m,), overlap with an object that the first stage expects"""
    second: Float32s
    """(m,), the same for the second stage"""


@final
@dataclass(frozen=True)
class Objectness:
    """Weights of the four signals (12.6); without a fit, the first stage's and the second's count alike."""

    first: float = 0.5
    second: float = 0.5
    size: float = 0.0
    size_squared: float = 0.0
    bias: float = 0.0

    def __call__(self, signals: Array) -> Array:
        """(n,) probabilities from signals (n, 4)."""
        weights = np.array([self.first, self.second, self.size, self.size_squared])
        return sigmoid(signals @ weights + self.bias)


def region_signals(regions: Boxes, candidates: Candidates, height: float, width: float) -> Array:
    """What is known of any regions (n, 4): the beliefs in the candidate that each overlaps most, and its size (12.6).

    A belief counts as far as the candidate overlaps the region; a region that is a candidate has its own.
    """
    overlaps = box_overlaps(regions, candidates.boxes)  # (n, m)
    reach = overlaps.max(axis=1, initial=0.0)
    nearest = overlaps.argmax(axis=1) if len(candidates.boxes) else np.zeros(len(regions), dtype=np.int64)
    size = 0.5 * np.log(np.maximum(box_areas(regions), 1.0) / (height * width))
    stages = (np.append(belief, 0.0) for belief in (candidates.first, candidates.second))  # no candidate, no belief
    beliefs = [log_odds(reach * belief[nearest], EPSILON) for belief in stages]
    return np.stack([*beliefs, size, size**2], axis=1)  # (n, 4)


def with_objectness(features: Float32s, objectness: Array, share: float) -> Float32s:
    """Features (n, d) with two more entries, which say how object-like each region is, and how little (12.7).

    They decide ``share`` of every cosine, and lengths stay as they are. By them, one direction tells background from
    objects, as a background model that has only one wants it.
    """
    if share == 0.0:
        return features
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    likely = np.clip(objectness, EPSILON, 1.0 - EPSILON)
    said = np.sqrt(np.stack([likely, 1.0 - likely], axis=1))  # (n, 2), of length 1
    return np.concatenate([(1.0 - share) ** 0.5 * features, share**0.5 * lengths * said], axis=1, dtype=np.float32)
