"""MI-max: the loss falls, and what it finds is planted."""

from __future__ import annotations

import numpy as np
import pytest

from samples import random_bags
from tag2box.errors import TooFewImagesError
from tag2box.evaluation import is_correct
from tag2box.methods.floors import objectness
from tag2box.methods.rivals import MiMax
from tag2box.methods.rivals.mi_max import LEAST_OBJECTNESS, MiMaxFit
from tag2box.types import ProposalBag
from tag2box.worlds import World, plant_task


def loss(found: MiMaxFit, positives: list[ProposalBag], negatives: list[ProposalBag], cost: float) -> float:
    """As the equation has it."""
    best = [
        [
            float(((bag.objectness + LEAST_OBJECTNESS) * (bag.features @ found.weights + found.bias)).max())
            for bag in bags
        ]
        for bags in (positives, negatives)
    ]
    apart = np.tanh(best[0]).mean() - np.tanh(best[1]).mean()
    return float(cost * (found.weights**2).sum() - apart)


def test_more_steps_and_more_starts_lower_the_loss() -> None:
    positives, negatives = random_bags(0, images=4), random_bags(1, images=3)
    losses = []
    for steps, starts in ((1, 1), (60, 1), (60, 12)):
        learner = MiMax(objectness, 0.01, starts=starts, steps=steps)
        found = learner.learn(positives, negatives, np.random.default_rng(3))
        losses.append(loss(found, positives, negatives, 0.01))
    assert losses[0] > losses[1] >= losses[2]


def test_it_finds_planted_objects() -> None:
    right = []
    for seed in range(8):
        task = plant_task(World(), seed, ways=2, shots=6)
        label = task.classes[0]
        shown = [image for image in task.support if label in image.truth.labels]
        absent = [image.bag for image in task.support if label not in image.truth.labels]
        learner = MiMax(objectness, 0.01)
        rows = learner.learn([image.bag for image in shown], absent, np.random.default_rng(0)).localization.rows
        right += [is_correct(image.bag.boxes[row], image.truth, label) for image, row in zip(shown, rows, strict=True)]
    assert np.mean(right) > 0.7


def test_it_needs_both_sides() -> None:
    with pytest.raises(TooFewImagesError, match="MI-max"):
        MiMax(objectness).learn(random_bags(0), [], np.random.default_rng(0))
