"""Recall of a store's regions, by hand; and what each rule of proposing is worth for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from tag2box.data import DatasetImage
from tag2box.experiments.recall import OTHER_VALUES, UNCHANGED, Cover, changed_rules, cover_objects, recall_by_rules
from tag2box.extract import ProposalRules, open_extractor
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


def test_each_change_is_one() -> None:
    rules = ProposalRules()
    variants = changed_rules(rules)
    assert variants.pop(UNCHANGED) == rules
    assert len(variants) == sum(map(len, OTHER_VALUES.values()))
    for name, other in variants.items():
        rule, _ = name.split(" = ")
        assert getattr(other, rule) in OTHER_VALUES[rule]
        assert replace(other, **{rule: getattr(rules, rule)}) == rules
    assert "corrected = 600" not in changed_rules(replace(rules, corrected=600))


def test_recall_is_that_of_a_model_with_those_rules(tiny_model: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    images = []
    for number in range(2):
        small = rng.integers(0, 256, size=(9, 9, 3), dtype=np.uint8)
        Image.fromarray(small).resize((150, 100)).save(tmp_path / f"{number}.png")
        corners = rng.uniform(0, 60, size=(20, 2))
        boxes = np.concatenate([corners, corners + rng.uniform(8, 40, size=(20, 2))], axis=1).astype(np.float32)
        no = np.zeros(20, dtype=bool)
        truth = Truth(f"{number}.png", boxes, np.full(20, "thing"), no, no)
        images.append(DatasetImage(tmp_path / f"{number}.png", 100, 150, truth))
    extractor = open_extractor(tiny_model, threads=1)
    found = recall_by_rules(extractor, images, lambda done, _: None)
    for name in (UNCHANGED, "looks = 1.00", "final_overlap = 0.6"):
        variant = extractor.with_rules(changed_rules(extractor.card.rules)[name])
        cover = Cover()
        for image in images:
            cover.add(image.truth, variant.extract(image.path, image.image_id).bag.boxes[1:])
        assert found[name].recall(0.5) == cover.objects().recall(0.5)
    assert len({tuple(covered.ranks[0.5]) for covered in found.values()}) > 3  # rules matter
