"""Averages are brought to fewer dimensions, and what matters of them stays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from tag2box.extract import open_extractor
from tag2box.training.detector.assembly import Detector
from tag2box.training.detector.examples import Examples
from tag2box.training.detector.export import export_model
from tag2box.training.detector.projecting import fit_projection, leading_directions, second_moments
from tiny_training import tiny_recipe


def test_leading_directions_are_those_of_a_singular_value_decomposition() -> None:
    rows = torch.randn(200, 12, generator=torch.Generator().manual_seed(0)) * torch.linspace(3, 0.5, 12)
    unit = (rows / rows.norm(dim=1, keepdim=True)).double().numpy()
    found = leading_directions(second_moments(rows), 4).numpy()
    _, _, wanted = np.linalg.svd(unit, full_matrices=False)
    np.testing.assert_allclose(np.abs(found @ wanted[:4].T), np.eye(4), atol=1e-5)
    assert (found[np.arange(4), np.abs(found).argmax(axis=1)] > 0).all()


def test_moments_count_every_average_alike() -> None:
    rows = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(
        second_moments(rows), second_moments(rows * torch.tensor([[1.0], [9.0], [2.0], [0.1], [5.0]]))
    )
    torch.testing.assert_close(second_moments(rows).trace(), torch.tensor(5.0, dtype=torch.float64))


@torch.no_grad()
def test_cosines_of_regions_stay_as_they_are(tmp_path: Path, examples: Examples) -> None:
    """In 64 of 432 dimensions, for what such photos show."""
    recipe = tiny_recipe(backbone_weights="imagenet", embedding_share=0.0, projected=64)
    detector = Detector(recipe, 2).eval()
    export_model(
        tmp_path / "whole",
        detector,
        tiny_recipe(backbone_weights="imagenet", embedding_share=0.0),
        {"classes": ["a", "b"]},
    )
    seen: list[int] = []
    fit_projection(detector, recipe, examples, lambda done, figures: seen.append(done))
    assert seen == list(range(1, 9))  # as many batches as the recipe has steps
    export_model(tmp_path / "projected", detector, recipe, {"classes": ["a", "b"]})
    photo = examples.items[0].path
    boxes = [[0, 0, 96, 64], [10, 10, 50, 46], [30, 20, 90, 60], [5, 30, 25, 60]]
    cosines = []
    for name, dimension in (("whole", 432), ("projected", 64)):
        extractor = open_extractor(tmp_path / name)
        features = extractor.describe(extractor.see_file(photo), boxes).features
        assert features.shape == (4, dimension)
        unit = features / np.linalg.norm(features, axis=1, keepdims=True)
        cosines.append(unit @ unit.T)
    np.testing.assert_allclose(cosines[1], cosines[0], atol=0.02)
