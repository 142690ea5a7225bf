"""The spread of base regions: numpy's mean and covariance are the oracle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from samples import random_bag
from tag2box.errors import NoImagesOfClassError
from tag2box.methods.localizers import center_bag
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.training import fit_spread


def test_it_is_the_covariance_of_all_regions(tmp_path: Path) -> None:
    rng, center = np.random.default_rng(0), np.full(5, 0.1)
    bags = [random_bag(rng, image_id=str(number), d=5) for number in range(6)]
    stores = []
    for name, part in (("a", bags[:2]), ("b", bags[2:])):
        with StoreWriter(tmp_path / name, StoreHeader("x", 5)) as writer:
            for bag in part:
                writer.append(bag)
        stores.append(FeatureStore(tmp_path / name))
    found = fit_spread(stores, center)
    kept = [store.bag(name) for store in stores for name in store.image_ids]
    features = np.concatenate([center_bag(bag, center).features for bag in kept]).astype(np.float64)
    np.testing.assert_allclose(found.mean, features.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(found.covariance, np.cov(features.T, bias=True), atol=1e-9)


def test_an_empty_store_has_none(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "a", StoreHeader("x", 5)):
        pass
    with pytest.raises(NoImagesOfClassError, match="no image"):
        fit_spread([FeatureStore(tmp_path / "a")], None)
