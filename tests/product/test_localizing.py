"""A model brings its background and its settings, and no others are taken for them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from samples import random_bag
from tag2box.errors import BackgroundFileError, ModelError, ShapeError
from tag2box.extract import Extractor
from tag2box.methods.localizers import FittedBackground, OddsBackground, VmfBackground, save_background
from tag2box.product.localizing import Settings, localizer_of, make_localizer, read_settings, write_settings
from tag2box.sphere import VmfMixture, VonMisesFisher


def fitted(d: int, fingerprint: str = "x", center: np.ndarray | None = None) -> FittedBackground:
    mixture = VmfMixture(np.ones(1), np.eye(d)[:1], np.array([7.0]))
    return FittedBackground(fingerprint, mixture, center, 1, 1)


def test_both_backgrounds_count_with_their_weights() -> None:
    bag = random_bag(np.random.default_rng(0), d=5)
    center = np.full(5, 0.1)
    localizer = make_localizer(fitted(5, center=center), Settings(20.0, 0.5, 3.0))
    vmf = VmfBackground(VonMisesFisher(np.eye(5)[0], 7.0)).log_score(bag)
    expected = 3.0 * OddsBackground().log_score(bag) + 0.5 * vmf
    np.testing.assert_allclose(localizer.background.log_score(bag), expected)
    assert localizer.kappa == 20.0
    assert localizer.center is not None
    np.testing.assert_array_equal(localizer.center, center)
    alone = make_localizer(None, Settings(20.0, 0.5, 3.0))
    np.testing.assert_allclose(alone.background.log_score(bag), 3.0 * OddsBackground().log_score(bag))


def test_settings_survive_a_file_and_bad_ones_are_refused(tmp_path: Path) -> None:
    write_settings(tmp_path / "settings.json", Settings(10.0, 0.05, 2.0), {"classes": ["cat"]})
    assert read_settings(tmp_path / "settings.json") == Settings(10.0, 0.05, 2.0)
    with pytest.raises(ShapeError, match="kappa"):
        Settings(0.0, 1.0, 1.0)
    for content in ("", "[]", '{"kappa": 1}', '{"kappa": "x", "background_weight": 1, "objectness_weight": 1}'):
        (tmp_path / "settings.json").write_text(content)
        with pytest.raises(ModelError, match="holds no settings"):
            read_settings(tmp_path / "settings.json")


def test_a_model_needs_a_background_of_its_own(tiny_model: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    extractor = Extractor(folder, threads=1)
    write_settings(folder / "settings.json", Settings(10.0, 0.05, 2.0), {})
    with pytest.raises(BackgroundFileError):
        localizer_of(extractor)
    save_background(folder / "background.safetensors", fitted(extractor.card.dimension))
    with pytest.raises(ModelError, match="was fitted on features of x"):
        localizer_of(extractor)
    save_background(folder / "background.safetensors", fitted(extractor.card.dimension, extractor.fingerprint))
    assert localizer_of(extractor).kappa == 10.0
