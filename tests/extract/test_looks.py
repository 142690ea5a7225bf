"""What several looks see together."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tag2box.errors import ShapeError
from tag2box.extract import CARD_NAME, Extractor, Look, ProposalRules, SeenPhoto, as_photo, load_photo, read_card
from tag2box.extract.looks import first_proposals
from tag2box.extract.proposals import location_centers

WIDTH, HEIGHT = 48, 32
"""Of the photo in the first look; the closer one sees it twice as large."""


def a_look(side: int, boxes: dict[int, list[float]], quality: dict[int, float]) -> Look:
    """A look that believes in a few boxes only, by location; elsewhere it proposes specks."""
    centers = location_centers(side)
    all_boxes = np.concatenate([centers - 2, centers + 2], axis=1).astype(np.float32)
    all_quality = np.full(len(centers), 0.01, dtype=np.float32)
    for place, box in boxes.items():
        all_boxes[place], all_quality[place] = box, quality[place]
    return Look(side, HEIGHT * side // 64, WIDTH * side // 64, all_boxes, all_quality, {})


def seen_twice(first: Look, closer: Look) -> SeenPhoto:
    pixels = np.zeros((HEIGHT, WIDTH, 3), dtype=np.uint8)
    return SeenPhoto(as_photo(pixels, 48, 96), (first, closer))


def test_boxes_of_every_look_come_in_pixels_of_the_first() -> None:
    first = a_look(64, {0: [0, 0, 40, 30]}, {0: 0.9})
    closer = a_look(128, {0: [10, 20, 30, 40], 2: [60, 4, 80, 24]}, {0: 0.8, 2: 0.95})
    found = first_proposals(seen_twice(first, closer), ProposalRules(corrected=3))
    np.testing.assert_allclose(found.boxes, [[30, 2, 40, 12], [0, 0, 40, 30], [5, 10, 15, 20]])
    np.testing.assert_allclose(found.quality, [0.95, 0.9, 0.8])
    assert found.look.tolist() == [1, 0, 1]


@pytest.mark.parametrize(("first_belief", "winner"), [(0.9, 0), (0.6, 1)])
def test_what_both_looks_see_is_kept_once(first_belief: float, winner: int) -> None:
    first = a_look(64, {0: [5, 10, 15, 20]}, {0: first_belief})
    closer = a_look(128, {0: [10, 20, 30, 41]}, {0: 0.8})
    found = first_proposals(seen_twice(first, closer), ProposalRules(first_overlap=0.6))
    assert found.look[0] == winner
    assert found.quality[1] == pytest.approx(0.01)  # the other one is gone


def test_as_many_of_each_look_are_considered() -> None:
    first = a_look(64, {0: [0, 0, 9, 9], 1: [20, 0, 29, 9], 2: [0, 20, 9, 29]}, {0: 0.9, 1: 0.8, 2: 0.7})
    closer = a_look(128, {0: [60, 40, 70, 50]}, {0: 0.1})
    found = first_proposals(seen_twice(first, closer), ProposalRules(considered=2))
    assert found.quality[:3] == pytest.approx([0.9, 0.8, 0.1])


def picture() -> Image.Image:
    small = np.random.default_rng(0).integers(0, 256, size=(12, 12, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((300, 200), Image.Resampling.BICUBIC)


def test_a_photo_is_looked_at_as_the_card_says(tiny_model: Path) -> None:
    extractor = Extractor(tiny_model, threads=1)
    assert extractor.card.sides == (96, 160, 64)
    seen = extractor.see_picture(picture())
    assert [(look.side, look.height, look.width) for look in seen.looks] == [
        (96, 64, 96),
        (160, 107, 160),
        (64, 43, 64),
    ]
    np.testing.assert_allclose(seen.scale, [300 / 96, 200 / 64] * 2)
    np.testing.assert_allclose(seen.enlargement(seen.looks[1]), [160 / 96, 107 / 64] * 2)
    with pytest.raises(ShapeError, match=r"longest sides \(96,\)"):
        extractor.see(as_photo(picture(), 96))


def test_candidates_of_a_look_are_corrected_in_that_look(tiny_model: Path) -> None:
    """The second stage sees a small box enlarged, as the first stage did."""
    extractor = Extractor(tiny_model, threads=1)
    seen = extractor.see_picture(picture())
    proposed, candidates = first_proposals(seen, extractor.card.rules), extractor.candidates(seen)
    assert set(proposed.look.tolist()) == {0, 1, 2}
    for number, look in enumerate(seen.looks):
        rows = proposed.look == number
        boxes = proposed.boxes[rows] * seen.enlargement(look)
        judged = extractor.box_graph(look.maps | {"boxes": boxes})["quality"]
        np.testing.assert_allclose(candidates.second[rows], judged, atol=1e-6)


def test_a_model_may_look_once(tiny_model: Path, tmp_path: Path) -> None:
    """Regions are then those of the first look alone, and the features have another name."""
    folder = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    content = json.loads((folder / CARD_NAME).read_text())
    content["rules"]["looks"] = [1.0]
    (folder / CARD_NAME).write_text(json.dumps(content))
    once, often = Extractor(folder, threads=1), Extractor(tiny_model, threads=1)
    assert once.card.sides == (96,)
    assert once.fingerprint != often.fingerprint
    seen, all_looks = once.see_picture(picture()), often.see_picture(picture())
    assert len(seen.looks) == 1
    np.testing.assert_array_equal(seen.first.boxes, all_looks.first.boxes)
    assert len(once.bag(seen, "photo")) >= 2


def test_views_are_the_picture_at_each_size(tmp_path: Path) -> None:
    picture().save(tmp_path / "photo.png")
    photo = load_photo(tmp_path / "photo.png", 60, 90)
    for view, side in zip(photo.views, (60, 90), strict=True):
        np.testing.assert_array_equal(view, load_photo(tmp_path / "photo.png", side).pixels)
    np.testing.assert_array_equal(photo.pixels, photo.views[0])


def test_sides_are_multiples_of_32(tiny_model: Path) -> None:
    card = read_card(tiny_model)
    for looks, sides in (((1.0,), (96,)), ((1.0, 1.3), (96, 128)), ((1.0, 0.1, 2.0), (96, 32, 192))):
        assert replace(card, rules=ProposalRules(looks=looks)).sides == sides
