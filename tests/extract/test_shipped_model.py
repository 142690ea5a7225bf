"""The model that ships: whole, small, described, and good on photos that it never saw."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tag2box.data import load_split, read_coco
from tag2box.evaluation import first_covering
from tag2box.extract import open_extractor, shipped_model
from tag2box.model import Model

PHOTOS = 12


def test_it_is_small_and_its_card_says_what_it_is() -> None:
    extractor = open_extractor(threads=1)
    size = sum(path.stat().st_size for path in shipped_model().iterdir())
    assert size < 40e6
    assert set(extractor.card.trained_on["classes"]) == set(load_split("coco60").base)
    assert extractor.card.dimension == 432 + 80 + 432 + 2
    assert extractor.card.metrics["voc07"]["recall"]["0.5"]["300"] > 70


def test_what_it_knows_was_seen_by_itself() -> None:
    model = Model.open(threads=1)
    assert model.knowledge.fingerprint == model.extractor.fingerprint
    assert model.learner.localizer.center is not None


def test_it_covers_objects_of_classes_that_it_never_saw(real_data: Path) -> None:
    extractor = open_extractor()
    ranks = []
    for image in read_coco(real_data / "voc07" / "test.json").images[5:1000:80][:PHOTOS]:
        objects = image.truth.boxes[~image.truth.ignore]
        ranks.append(first_covering(extractor.extract(image.path, image.image_id).bag.boxes[1:], objects))
    assert np.mean(np.concatenate(ranks) < 300) > 0.7
