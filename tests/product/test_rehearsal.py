"""Rehearsing: photos are tagged by chance, and the rest is asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from planted_model import planted_model
from tag2box.data import Dataset, DatasetImage
from tag2box.errors import PoolTooSmallError
from tag2box.methods.detectors import Spread
from tag2box.methods.localizers import VmfBackground
from tag2box.model import Model
from tag2box.product.detecting import Detector
from tag2box.product.rehearsal import draw_tagged, rehearse
from tag2box.sphere import fit_vmf
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import Detections, ProposalBag
from tag2box.worlds import World, plant_background, plant_image

WORLD = World(dimension=32, classes=2, regions=(12, 16), distractors=(0, 1))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dataset, FeatureStore, Model]:
    rng = np.random.default_rng(0)
    images = [plant_image(WORLD, str(number), [WORLD.names[number % 2]], rng) for number in range(30)]
    folder = tmp_path_factory.mktemp("planted") / "store"
    with StoreWriter(folder, StoreHeader("x", WORLD.dimension)) as writer:
        for image in images:
            writer.append(image.bag)
    kept = [DatasetImage(Path(i.bag.image_id), 1, 1, i.truth) for i in images]
    background = plant_background(WORLD, 3000)
    fitted = fit_vmf(background)
    spread = Spread(background.mean(axis=0), np.cov(background.T))
    model = planted_model(WORLD.dimension, spread, kappa=fitted.kappa, background=VmfBackground(fitted))
    return Dataset(WORLD.names, tuple(kept)).only(WORLD.names), FeatureStore(folder), model


def test_a_planted_world_is_learned_from_four_photos(planted: tuple[Dataset, FeatureStore, Model]) -> None:
    found = rehearse(*planted, 4, 3, lambda done, figures: None)
    assert found.corloc.value > 0.9
    assert found.ap50.value > 0.8
    assert found.corloc.low <= found.corloc.value <= found.corloc.high


def test_the_photos_that_teach_are_not_asked_for(
    planted: tuple[Dataset, FeatureStore, Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, store, model = planted
    asked: list[str] = []
    plain = Detector.detect

    def remember(detector: Detector, bag: ProposalBag, min_score: float) -> Detections:
        asked.append(bag.image_id)
        return plain(detector, bag, min_score)

    monkeypatch.setattr(Detector, "detect", remember)
    rehearse(dataset, store, model, 4, 2, lambda done, figures: None)
    assert set(asked[:22]).isdisjoint(draw_tagged(dataset, 4, 0))
    assert len(asked) == 2 * 22


def test_draws_differ_and_have_enough_of_every_class(planted: tuple[Dataset, FeatureStore, Model]) -> None:
    dataset, _, _ = planted
    first, second = draw_tagged(dataset, 5, 0), draw_tagged(dataset, 5, 1)
    assert first == draw_tagged(dataset, 5, 0) != second
    for label in dataset.classes:
        assert sum(label in dataset.tags[name] for name in first) >= 5
    with pytest.raises(PoolTooSmallError, match="is in 15 photos"):
        draw_tagged(dataset, 16, 0)
