"""MI-SVM: what it starts with, what it stops at, what guides it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from samples import random_bags
from tag2box.arrays import Array
from tag2box.errors import TooFewImagesError
from tag2box.evaluation import is_correct
from tag2box.methods.floors import objectness
from tag2box.methods.rivals import MiSvm, fit_linear_svm, mi_svm
from tag2box.types import ProposalBag
from tag2box.worlds import World, plant_task


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def nothing(bag: ProposalBag) -> Array:
    return np.zeros(len(bag))


def planted_hits(seed: int) -> list[bool]:
    """Whether MI-SVM finds the class in its images, given images of another one."""
    task = plant_task(World(), seed, ways=2, shots=6)
    label = task.classes[0]
    shown = [image for image in task.support if label in image.truth.labels]
    absent = [image.bag for image in task.support if label not in image.truth.labels]
    rows = MiSvm(objectness).learn([image.bag for image in shown], absent, rng()).localization.rows
    return [is_correct(image.bag.boxes[row], image.truth, label) for image, row in zip(shown, rows, strict=True)]


def test_it_finds_planted_objects() -> None:
    right = [hit for seed in range(10) for hit in planted_hits(seed)]
    assert np.mean(right) > 0.7


def test_the_first_machine_sees_whole_images_only(monkeypatch: pytest.MonkeyPatch) -> None:
    positives, negatives = random_bags(0, images=3), random_bags(1, images=4)
    seen = []

    def remembered(features: Array, signs: Array, costs: Array) -> object:
        seen.append((features, signs))
        return fit_linear_svm(features, signs, costs)

    monkeypatch.setattr(mi_svm, "fit_linear_svm", remembered)
    found = MiSvm(nothing, max_rounds=5).learn(positives, negatives, rng())
    whole = np.stack([bag.features[0] for bag in positives + negatives])
    np.testing.assert_allclose(seen[0][0], whole)
    assert seen[0][1].tolist() == [1.0] * 3 + [-1.0] * 4
    counts = [len(features) for features, _ in seen]
    assert all(before <= after <= before + 4 for before, after in pairwise(counts))
    for features, signs in seen:  # no region is a negative twice
        assert len(np.unique(features[signs < 0], axis=0)) == (signs < 0).sum()
    assert found.rounds == len(seen)


def test_the_hardest_region_of_each_negative_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    positives, negatives = random_bags(2, images=3), random_bags(3, images=2)
    machines, examples = [], []

    def remembered(features: Array, signs: Array, costs: Array) -> object:
        examples.append(features)
        machines.append(fit_linear_svm(features, signs, costs))
        return machines[-1]

    monkeypatch.setattr(mi_svm, "fit_linear_svm", remembered)
    MiSvm(nothing, max_rounds=2).learn(positives, negatives, rng())
    hardest = [int((bag.features.astype(float) @ machines[0].weights).argmax()) for bag in negatives]
    new = [bag.features[row] for bag, row in zip(negatives, hardest, strict=True) if row != 0]  # row 0 is there already
    assert new
    np.testing.assert_allclose(examples[1][5:], np.stack(new))


def test_it_stops_when_a_selection_comes_back() -> None:
    found = MiSvm(lambda bag: (np.arange(len(bag)) == 0) * 1e6).learn(random_bags(0), random_bags(1), rng())
    assert found.rounds == 1
    assert found.localization.rows.tolist() == [0] * 4


def test_objectness_guides_the_choice_but_not_the_score() -> None:
    positives, negatives = random_bags(4), random_bags(5)
    found = MiSvm(objectness, gamma=1e6).learn(positives, negatives, rng())
    assert found.localization.rows.tolist() == [int(bag.objectness.argmax()) for bag in positives]
    assert found.score(positives[0]) == pytest.approx(
        positives[0].features.astype(float) @ found.svm.weights + found.svm.bias
    )


def test_without_negatives_it_says_what_it_needs() -> None:
    with pytest.raises(TooFewImagesError, match="3 images that show the thing and 0 that do not"):
        MiSvm(nothing).learn(random_bags(0, images=3), [], rng())


def test_with_folds_no_machine_looks_at_what_it_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    positives, negatives = random_bags(4, images=5), random_bags(5, images=3)
    counts = []

    def remembered(features: Array, signs: Array, costs: Array) -> object:
        counts.append(int((signs > 0).sum()))
        return fit_linear_svm(features, signs, costs)

    monkeypatch.setattr(mi_svm, "fit_linear_svm", remembered)
    MiSvm(nothing, max_rounds=1, folds=2).learn(positives, negatives, rng())
    assert counts == [2, 3, 5]  # without each half, then with all
    counts.clear()
    MiSvm(nothing, max_rounds=1, folds=10).learn(positives, negatives, rng())
    assert counts == [4, 4, 4, 4, 4, 5]  # no more folds than images


def test_objectness_in_new_images_only_if_it_is_asked_for() -> None:
    positives, negatives, new = random_bags(4, images=4), random_bags(5, images=3), random_bags(6, images=1)[0]
    plain = MiSvm(objectness, gamma=0.5).learn(positives, negatives, rng())
    asked = MiSvm(objectness, gamma=0.5, ask_in_new_images=True).learn(positives, negatives, rng())
    np.testing.assert_allclose(asked.score(new), plain.score(new) + 0.5 * objectness(new), rtol=1e-6)
