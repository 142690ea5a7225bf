"""Settings that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Fixed examples by default; TAG2BOX_SEEDS=all draws new ones at every run, and more of them.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("all", deadline=None, max_examples=500)
settings.load_profile("all" if os.environ.get("TAG2BOX_SEEDS") == "all" else "fixed")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real photos that TAG2BOX_DATA names; tests that need it are skipped without."""
    folder = os.environ.get("TAG2BOX_DATA")
    if not folder:
        pytest.skip("TAG2BOX_DATA is not set: no folder of real photos to test with")
    return Path(folder)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights and small maps: right in everything but its answers, and fast."""
    from tag2box.training.detector.assembly import Detector
    from tag2box.training.detector.export import export_model
    from tag2box.training.detector.recipe import Recipe

    recipe = Recipe(
        backbone_weights="random",
        image_size=96,
        channels=16,
        region_channels=16,
        embedding=8,
        objectness_share=0.0,
    )
    folder = tmp_path_factory.mktemp("tiny") / "model"
    trained_on = {"classes": ["cat", "dog"], "photos": 0, "objects": 0}
    export_model(folder, Detector(recipe, 2), recipe, trained_on)
    return folder
