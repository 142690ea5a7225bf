"""Objects are told from background by one direction, where there is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tag2box.data import DatasetImage
from tag2box.errors import PoolTooSmallError
from tag2box.experiments.separation import Regions, kinds_of_regions, separations
from tag2box.extract import Card
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import ProposalBag, Truth

CARD = Card(96, 3, 2, {}, {}, {"classes": []})


def regions(rng: np.random.Generator, told_by: slice) -> Regions:
    """Thirty regions, a third on objects; background lies around one direction in some of the dimensions."""
    features = rng.normal(size=(30, 5))
    on_object = np.arange(30) < 10
    features[~on_object, told_by] = 2.0 + 0.3 * features[~on_object, told_by]
    return Regions(features, on_object, ~on_object)


def test_the_part_that_tells_is_found_out() -> None:
    rng = np.random.default_rng(0)
    found = separations([regions(rng, slice(3, 5)) for _ in range(40)], CARD)
    assert set(found) == {"features", "backbone part", "embedding part"}
    assert found["embedding part"].value > 0.9
    assert found["embedding part"].low > 0.8
    assert found["backbone part"].low < 0.5 < found["backbone part"].high
    assert found["backbone part"].value < found["features"].value
    assert found["features"].trials == 20


def test_the_direction_is_of_other_photos_than_those_it_is_judged_on() -> None:
    rng = np.random.default_rng(1)
    mixed = [regions(rng, slice(3, 5)) for _ in range(40)]
    turned = [some._replace(features=-some.features) if place % 2 else some for place, some in enumerate(mixed)]
    assert separations(turned, CARD)["embedding part"].value < 0.1


def test_regions_are_on_what_is_asked_about_or_on_nothing(tmp_path: Path) -> None:
    boxes = [[0, 0, 90, 60], [10, 10, 30, 30], [50, 10, 70, 30], [0, 40, 20, 58], [10, 10, 30, 24]]
    features = np.random.default_rng(0).normal(size=(5, 5))
    bag = ProposalBag.from_raw("a", np.array(boxes, dtype=np.float32), features, np.full(5, 0.5))
    with StoreWriter(tmp_path / "store", StoreHeader("some", 5)) as writer:
        writer.append(bag)
    truth = Truth.plain("a", [[10, 10, 30, 30], [50, 10, 70, 30]], ["cat", "dog"])
    image = DatasetImage(Path("a"), 60, 90, truth)
    (found,) = kinds_of_regions(FeatureStore(tmp_path / "store"), [image], ["cat"], lambda done, figures: None)
    assert found.on_object.tolist() == [True, False, False, True]
    assert found.on_nothing.tolist() == [False, False, True, False]  # the dog is no cat, and not nothing
    assert found.features.shape == (4, 5)


def test_without_objects_nothing_can_be_told() -> None:
    rng = np.random.default_rng(0)
    some = [regions(rng, slice(3, 5)) for _ in range(4)]
    with pytest.raises(PoolTooSmallError, match="no regions of both kinds"):
        separations([each._replace(on_object=np.zeros(30, dtype=bool)) for each in some], CARD)
