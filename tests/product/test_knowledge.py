"""A model brings its background and its settings, and no others are taken for them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from samples import random_bag
from tag2box.errors import BackgroundFileError, ModelError
from tag2box.extract import open_extractor
from tag2box.methods.lineup import SETTINGS_NAME, save_choice
from tag2box.methods.localizers import FittedBackground, OddsBackground, VmfBackground, save_background
from tag2box.product.knowledge import DETECTOR, LOCALIZER, localizer_of, make_localizer
from tag2box.sphere import VmfMixture, VonMisesFisher

CHOSEN = {"kappa": 20.0, "background_weight": 0.5, "objectness_weight": 3.0, "steps": 7.0}


def fitted(d: int, fingerprint: str = "x", center: np.ndarray | None = None) -> FittedBackground:
    mixture = VmfMixture(np.ones(1), np.eye(d)[:1], np.array([7.0]))
    return FittedBackground(fingerprint, mixture, center, 1, 1)


def test_both_backgrounds_count_with_their_weights() -> None:
    bag = random_bag(np.random.default_rng(0), d=5)
    center = np.full(5, 0.1)
    localizer = make_localizer(fitted(5, center=center), CHOSEN)
    vmf = VmfBackground(VonMisesFisher(np.eye(5)[0], 7.0)).log_score(bag)
    expected = 3.0 * OddsBackground().log_score(bag) + 0.5 * vmf
    np.testing.assert_allclose(localizer.background.log_score(bag), expected)
    assert localizer.kappa == 20.0
    assert localizer.center is not None
    np.testing.assert_array_equal(localizer.center, center)


def test_a_model_needs_a_background_of_its_own(tiny_model: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    extractor = open_extractor(folder, threads=1)
    save_choice(folder / SETTINGS_NAME, {LOCALIZER: CHOSEN, DETECTOR: {"ridge": 1.0, "likeness_weight": 0.5}})
    with pytest.raises(BackgroundFileError):
        localizer_of(extractor)
    save_background(folder / "background.safetensors", fitted(extractor.card.dimension))
    with pytest.raises(ModelError, match="was fitted on features of x"):
        localizer_of(extractor)
    save_background(folder / "background.safetensors", fitted(extractor.card.dimension, extractor.fingerprint))
    assert localizer_of(extractor).kappa == 20.0
