"""Classes as if they had been learned, of which only boxes and what a test asks about are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tag2box.data import FoundBox
from tag2box.product.learning import ClassScores, LearnedClass, Lesson


def class_by_hand(lesson: Lesson, boxes: Sequence[FoundBox], *, steps: int = 0, scene: float = 0.0) -> LearnedClass:
    """A class with these boxes, after some steps of EM that moved nothing."""
    return LearnedClass(
        lesson,
        tuple(boxes),
        direction=np.zeros(2),
        examples=np.zeros((0, 2), np.float32),
        example_photos=(),
        kappa=1.0,
        threshold=0.0,
        least_likeness=0.0,
        scores=ClassScores(np.zeros(0), np.zeros(0)),
        likelihoods=(0.0,) * steps,
        film=np.tile(np.array([1, 1, 9, 9], dtype=np.float32), (steps, len(boxes), 1)),
        converged=True,
        candidates=(),
        scene_likeness=scene,
    )
