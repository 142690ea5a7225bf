"""Where EM starts: functions from the stacked bags to one or more vectors (S, d).

M = images, R = regions of all images, d = feature dimension, S = starts
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tag2box.arrays import Array, require_shape
from tag2box.methods.localizers.clamps import Clamps
from tag2box.methods.localizers.stack import BagStack

Start = Callable[[BagStack, np.random.Generator], Array]


def whole_images(bags: BagStack, rng: np.random.Generator) -> Array:
    """Mean of the features of the whole images, (6.5): the paper's prototypical start."""
    return bags.features[bags.starts[bags.present]].mean(axis=0)[None]  # (1, d)


def random_regions(bags: BagStack, rng: np.random.Generator) -> Array:
    """Mean of one random region of each image: ablation #4."""
    low, high = bags.offsets[:-1][bags.present], bags.offsets[1:][bags.present]
    return bags.features[rng.integers(low, high)].mean(axis=0)[None]  # (1, d)


def known_regions(bags: BagStack, clamps: Clamps) -> Array:
    """Mean of the regions that a person has pointed at: the best start there is."""
    rows = [bags.offsets[image] + row for image, row in clamps.known.items()]
    return bags.features[rows].mean(axis=0)[None]  # (1, d)


def background_only(bags: BagStack, rng: np.random.Generator) -> Array:
    """The zero vector: the first weights come from the background alone, ablation #2."""
    return np.zeros((1, bags.features.shape[1]))


def given(directions: npt.ArrayLike) -> Start:
    """Start at the given directions (d,) or (S, d); EM runs from each and keeps the likeliest end."""
    rows = np.atleast_2d(np.asarray(directions, dtype=np.float64))  # (S, d)

    def start(bags: BagStack, rng: np.random.Generator) -> Array:
        require_shape("given directions", rows, (None, bags.features.shape[1]))
        return rows

    return start
