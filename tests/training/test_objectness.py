"""Objectness is learned from base objects: the regression, the clean images, the card."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tag2box.data import Dataset, DatasetImage, read_coco
from tag2box.errors import TrainingError
from tag2box.extract import Objectness, open_extractor, read_card
from tag2box.training.logistic import balanced, fit_logistic
from tag2box.training.objectness import calibrate, clean_images, fit_objectness
from tag2box.types import Truth
from tiny_training import write_photos


def test_the_regression_finds_the_weights_it_came_from() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((40_000, 2)) * [1.0, 3.0] + [0.0, 5.0]
    chances = 1 / (1 + np.exp(-(values @ [1.5, -0.5] + 2.5)))
    labels = rng.random(len(values)) < chances
    *weights, bias = fit_logistic(values, labels, balanced(labels))
    np.testing.assert_allclose(weights, [1.5, -0.5], atol=0.08)
    balance = np.log((~labels).sum() / labels.sum())
    assert bias == pytest.approx(2.5 + balance, abs=0.15)


def test_the_slope_vanishes_at_the_answer() -> None:
    rng = np.random.default_rng(1)
    values, labels = rng.standard_normal((500, 3)), rng.random(500) < 0.2
    *weights, bias = fit_logistic(values, labels, balanced(labels))
    chances = 1 / (1 + np.exp(-(values @ weights + bias)))
    shares = np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())
    assert np.abs(values.T @ (shares * (labels - chances))).max() < 5e-3  # what the ridge leaves


def image(name: str, *labels: str) -> DatasetImage:
    return DatasetImage(Path(name), 9, 9, Truth.plain(name, [[0, 0, 5, 5]] * len(labels), list(labels)))


def test_only_images_without_other_classes_count() -> None:
    dataset = Dataset(("cat", "dog", "ox"), (image("a", "cat"), image("b", "cat", "ox"), image("c"), image("d", "dog")))
    assert [each.image_id for each in clean_images([dataset], ["cat", "dog"])] == ["a", "d"]
    careless = Dataset(("cat", "dog", "ox"), (image("e", "cat"),))  # where are its dogs?
    assert [each.image_id for each in clean_images([careless, dataset], ["cat", "dog"])] == ["a", "d"]


def test_a_model_is_calibrated_in_its_card(tiny_model: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    card = read_card(folder)
    content = (folder / "card.json").read_text().replace('"cat"', '"truck"').replace('"dog"', '"zebra"')
    (folder / "card.json").write_text(content)
    (tmp_path / "photos").mkdir()
    dataset = read_coco(write_photos(tmp_path / "photos"))
    calibrate(folder, [dataset], lambda done, figures: None)
    fitted = read_card(folder)
    assert fitted.objectness != Objectness()
    assert fitted.fingerprint != card.fingerprint


def test_photos_without_objects_teach_nothing(tiny_model: Path) -> None:
    with pytest.raises(TrainingError, match="0 of 0 regions in 0 photos are on an object"):
        fit_objectness(open_extractor(tiny_model, threads=1), [], lambda done, figures: None)
