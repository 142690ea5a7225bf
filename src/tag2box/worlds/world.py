"""A world of directions: what objects and background look like where the answer is known.

d = feature dimension, C = classes, G = background clusters
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from tag2box.arrays import Array, require_number
from tag2box.sphere import VonMisesFisher


@final
@dataclass(frozen=True)
class World:
    """Settings of a planted world; the defaults are a task that the method solves and its ablations do not."""

    seed: int = 0
    dimension: int = 128
    classes: int = 12
    distractor_classes: int = 24
    """Objects that nobody asks about, which turn up in any image."""
    clusters: int = 6
    """Kinds of background."""
    cone: float = 0.6
    """Cosine of every direction to a common one: features after a rectifier crowd together like this."""
    object_kappa: float = 300.0
    """How alike objects of one class are; lower is harder."""
    background_kappa: float = 300.0
    regions: tuple[int, int] = (40, 80)
    """Fewest and most background regions of an image."""
    instances: tuple[int, int] = (1, 2)
    """Fewest and most objects of each class that an image shows; three at most."""
    near_duplicates: int = 3
    """Regions that lie on an object, a little off."""
    parts: int = 2
    """Regions that show half an object; they are wrong answers."""
    distractors: tuple[int, int] = (0, 2)
    """Fewest and most objects of other classes in an image."""
    wrong_tags: float = 0.0
    """Share of images that do not show what their tag says."""
    rectified: bool = False
    """Whether negative feature values become 0, as after a rectifier."""

    def __post_init__(self) -> None:
        for name in ("seed", "near_duplicates", "parts", "distractor_classes", "wrong_tags", "cone"):
            require_number(name, getattr(self, name), at_least=0)
        for name in ("classes", "clusters", "dimension"):
            require_number(name, getattr(self, name), at_least=1)
        for name in ("object_kappa", "background_kappa"):
            require_number(name, getattr(self, name), above=0.0)
        for name in ("regions", "instances", "distractors"):
            fewest, most = getattr(self, name)
            require_number(f"the fewest {name}", fewest, at_least=0)
            require_number(f"the most {name}", most, at_least=fewest)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classes that tasks ask about."""
        return tuple(f"class-{number:02d}" for number in range(self.classes))

    @cached_property
    def _directions(self) -> Array:
        """(C + distractors + G, d) unit rows, all at the same angle to the middle of the cone."""
        rng = np.random.default_rng([self.seed, 0])
        middle = np.full(self.dimension, self.dimension**-0.5)
        rows = rng.standard_normal((self.classes + self.distractor_classes + self.clusters, self.dimension))
        rows -= np.outer(rows @ middle, middle)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return self.cone * middle + np.sqrt(1.0 - self.cone**2) * rows

    def object_feature(self, name: str, rng: np.random.Generator) -> Array:
        """(d,) feature of a new object of a class."""
        return VonMisesFisher(self._directions[self.names.index(name)], self.object_kappa).sample(1, rng)[0]

    def distractor_feature(self, rng: np.random.Generator) -> Array:
        """(d,) feature of an object that nobody asks about."""
        number = self.classes + rng.integers(self.distractor_classes)
        return VonMisesFisher(self._directions[number], self.object_kappa).sample(1, rng)[0]

    def background_features(self, count: int, rng: np.random.Generator) -> Array:
        """(count, d) features of background regions of all kinds."""
        kinds = rng.integers(self.clusters, size=count)
        features = np.empty((count, self.dimension))
        for kind, mean in enumerate(self._directions[-self.clusters :]):
            rows = np.flatnonzero(kinds == kind)
            features[rows] = VonMisesFisher(mean, self.background_kappa).sample(len(rows), rng)
        return features
