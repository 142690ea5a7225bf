"""Recall of a store's regions, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tag2box.data import DatasetImage
from tag2box.experiments.recall import cover_objects
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import ProposalBag, Truth


def test_the_whole_image_is_no_region_and_ignored_objects_do_not_count(tmp_path: Path) -> None:
    boxes = [[0, 0, 100, 100], [0, 0, 40, 40], [50, 50, 60, 60]]
    bag = ProposalBag.from_raw("photo", boxes, np.ones((3, 2)), [0.1, 0.2, 0.3])
    with StoreWriter(tmp_path / "store", StoreHeader("x", 2)) as writer:
        writer.append(bag)
    objects = np.array([[0, 0, 100, 100], [0, 0, 40, 30], [50, 50, 61, 61], [0, 0, 5, 5]], dtype=np.float32)
    ignored = np.array([False, False, False, True])
    truth = Truth("photo", objects, np.array(["a", "b", "a", "b"]), ignored, np.zeros(4, dtype=bool))
    image = DatasetImage(tmp_path / "photo.jpg", 100, 100, truth)
    done: list[int] = []
    covered = cover_objects(FeatureStore(tmp_path / "store"), [image], lambda n, _: done.append(n))
    assert done == [1]
    assert covered.recall(0.5) == {10: 2 / 3, 50: 2 / 3, 100: 2 / 3, 300: 2 / 3}
    assert covered.ranks[0.5].tolist() == [np.inf, 0, 1]
    assert covered.ranks[0.7].tolist() == [np.inf, 0, 1]
    sizes = covered.by_size(0.5)
    assert sizes["large"] == (1, dict.fromkeys((10, 50, 100, 300), 0.0))
    assert sizes["small"] == (1, dict.fromkeys((10, 50, 100, 300), 1.0))
    assert sizes["medium"][0] == 1
