"""A photo becomes a bag, a box becomes a feature, and a model that is not whole is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tag2box.errors import ModelError, ShapeError
from tag2box.extract import (
    BOX_GRAPH,
    CARD_NAME,
    PHOTO_GRAPH,
    ProposalRules,
    TwoGraphs,
    as_photo,
    open_extractor,
    read_card,
    shipped_model,
)
from tag2box.extract.averages import core_averages
from tag2box.extract.card import file_hash
from tag2box.extract.proposals import first_proposals, location_centers


@pytest.fixture(scope="module")
def extractor(tiny_model: Path) -> TwoGraphs:
    return open_extractor(tiny_model, threads=1)


def noise(height: int, width: int, seed: int = 0) -> Image.Image:
    """A picture with something everywhere, soft enough to survive scaling."""
    small = np.random.default_rng(seed).integers(0, 256, size=(8, 8, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def test_the_whole_photo_comes_first_and_every_region_lies_inside(extractor: TwoGraphs, tmp_path: Path) -> None:
    noise(90, 200).save(tmp_path / "a photo.png")
    bag = extractor.extract(tmp_path / "a photo.png", "a photo").bag
    assert bag.image_id == "a photo"
    assert bag.boxes[0].tolist() == [0, 0, 200, 90]
    assert 2 <= len(bag) <= 301
    assert bag.features.shape == (len(bag), extractor.card.dimension)
    assert (bag.boxes[:, :2] >= 0).all()
    assert (bag.boxes[:, 2:] <= [200, 90]).all()
    assert (bag.boxes[:, 2:] > bag.boxes[:, :2]).all()
    again = extractor.extract(tmp_path / "a photo.png", "other").bag
    np.testing.assert_array_equal(again.features, bag.features)


def test_the_number_of_regions_is_what_was_asked_for(tiny_model: Path, tmp_path: Path) -> None:
    noise(100, 100).save(tmp_path / "photo.png")
    few = open_extractor(tiny_model, regions=5, threads=1).extract(tmp_path / "photo.png", "photo").bag
    many = open_extractor(tiny_model, threads=1).extract(tmp_path / "photo.png", "photo").bag
    assert len(few) == 6
    np.testing.assert_array_equal(few.boxes, many.boxes[:6])
    with pytest.raises(ShapeError, match="regions"):
        open_extractor(tiny_model, regions=0)


def test_a_feature_depends_on_its_box_alone(extractor: TwoGraphs) -> None:
    """A box that a person draws gets the feature that it would have as a region."""
    seen = extractor.see_picture(noise(90, 200))
    bag = extractor.bag(seen, "photo")
    rows = [3, 0, 1]
    said = extractor.describe(seen, bag.boxes[rows])
    unit = said.features / np.linalg.norm(said.features, axis=1, keepdims=True)
    np.testing.assert_allclose(unit, bag.features[rows], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(said.features, axis=1), bag.norms[rows], rtol=1e-4)
    np.testing.assert_allclose(said.classes.sum(axis=1), 1.0, atol=1e-5)
    assert extractor.describe(seen, np.zeros((0, 4))).features.shape == (0, extractor.card.dimension)
    with pytest.raises(ShapeError, match="boxes to describe"):
        extractor.describe(seen, [[5.0, 5.0, 1.0, 1.0]])


def test_boxes_that_a_person_draws_are_described_like_regions(extractor: TwoGraphs) -> None:
    """Feature, length and objectness of a box are those that it has when it is proposed."""
    picture = noise(90, 200)
    proposed = extractor.extract(picture, "photo")
    drawn = extractor.describe_boxes(picture, "drawn", [[20, 10, 80, 60], *proposed.bag.boxes[[3, 1]].tolist()])
    assert (drawn.height, drawn.width, drawn.source_hash) == (90, 200, proposed.source_hash)
    assert drawn.bag.boxes[:2].tolist() == [[0, 0, 200, 90], [20, 10, 80, 60]]
    for name in ("boxes", "features", "norms", "objectness"):
        found, wanted = (getattr(bag, name) for bag in (drawn.bag, proposed.bag))
        np.testing.assert_allclose(found[[0, 2, 3]], wanted[[0, 3, 1]], rtol=1e-4, atol=1e-5)
    assert len(extractor.describe_boxes(picture, "photo", []).bag) == 1
    with pytest.raises(ShapeError, match="boxes to describe"):
        extractor.describe_boxes(picture, "photo", [[5.0, 5.0, 1.0, 1.0]])


@pytest.mark.parametrize(
    ("height", "width", "canvas"), [(90, 200, (64, 96)), (200, 90, (96, 64)), (96, 96, (96, 96)), (1, 300, (32, 96))]
)
def test_a_canvas_that_fits_is_no_larger_than_it_must_be(
    extractor: TwoGraphs, height: int, width: int, canvas: tuple[int, int]
) -> None:
    fitted, picture = replace(extractor, card=replace(extractor.card, fitted=True)), noise(height, width)
    seen = fitted.see_picture(picture)
    assert seen.first.canvas == canvas
    assert all(len(look.boxes) == len(location_centers(look.canvas)) for look in seen.looks)
    bag = fitted.extract(picture, "photo").bag
    assert (bag.boxes >= 0).all()
    assert (bag.boxes[:, 2:] <= [width, height]).all()
    described = fitted.describe(seen, bag.boxes[[-1]]).features
    np.testing.assert_allclose(described / np.linalg.norm(described), bag.features[[-1]], atol=1e-5)
    square = extractor.extract(picture, "photo").bag
    assert (canvas == (96, 96)) == (
        bag.features.shape == square.features.shape and np.array_equal(bag.features, square.features)
    )


def test_a_feature_can_say_how_object_like_its_region_is(extractor: TwoGraphs) -> None:
    telling, picture = replace(extractor, card=replace(extractor.card, objectness_share=0.25)), noise(90, 200)
    plain, found = extractor.extract(picture, "photo").bag, telling.extract(picture, "photo").bag
    assert telling.fingerprint != extractor.fingerprint
    assert found.dimension == telling.dimension == extractor.dimension + 2
    np.testing.assert_allclose(found.features[:, :-2], 0.75**0.5 * plain.features, atol=1e-5)
    np.testing.assert_allclose(found.features[:, -2] ** 2, 0.25 * np.clip(plain.objectness, 1e-4, 1), atol=1e-5)
    drawn = telling.describe_boxes(picture, "drawn", found.boxes[[1]]).bag
    np.testing.assert_allclose(drawn.features[1], found.features[1], atol=1e-4)


def test_a_feature_tells_of_the_core_of_its_region_as_all_looks_show_it(extractor: TwoGraphs) -> None:
    """From the definition: the second graph's own averages under smaller boxes, each of length 1, added up."""
    seen, plain = extractor.see_picture(noise(90, 200)), replace(extractor, card=replace(extractor.card, core=False))
    assert plain.fingerprint != extractor.fingerprint
    bag, pooled = extractor.bag(seen, "photo"), extractor.card.pooled
    boxes = bag.boxes / seen.scale
    margin = 0.225 * (boxes[:, 2:] - boxes[:, :2])
    cores = np.concatenate([boxes[:, :2] + margin, boxes[:, 2:] - margin], axis=1).astype(np.float32)
    total = np.zeros((len(bag), pooled))
    for look in seen.looks:
        said = extractor.describer.describe(look, cores * seen.enlargement(look)).features[:, :pooled]
        total += said / np.linalg.norm(said, axis=1, keepdims=True)
    total /= np.linalg.norm(total, axis=1, keepdims=True)
    alone = plain.describe(seen, bag.boxes).features
    alone /= np.linalg.norm(alone, axis=1, keepdims=True)
    np.testing.assert_allclose(bag.features[:, :-pooled], 0.75**0.5 * alone, atol=1e-5)
    np.testing.assert_allclose(bag.features[:, -pooled:], 0.25**0.5 * total, atol=2e-4)


def test_how_loud_the_maps_of_a_look_are_does_not_matter_to_a_core(extractor: TwoGraphs) -> None:
    seen, boxes = extractor.see_picture(noise(90, 200)), np.array([[5, 5, 60, 40]], dtype=np.float32)
    *others, last = seen.looks
    loud = replace(last, maps={name: 9 * values for name, values in last.maps.items()})
    found, wanted = (
        core_averages(each, boxes, extractor.card.halvings) for each in (replace(seen, looks=(*others, loud)), seen)
    )
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_an_extractor_cannot_be_changed(extractor: TwoGraphs) -> None:
    with pytest.raises(FrozenInstanceError):
        extractor.card = extractor.card  # type: ignore[misc]
    other = extractor.with_rules(replace(extractor.card.rules, final_overlap=0.5))
    assert other.photo_graph is extractor.photo_graph
    assert other.fingerprint != extractor.fingerprint


def test_the_whole_image_weighs_its_parts_by_the_share(extractor: TwoGraphs) -> None:
    """The embedding decides the share of a cosine that the recipe says, beside the core."""
    seen = extractor.see_picture(noise(90, 200))
    features = extractor.describe(seen, [[0, 0, 200, 90], [20, 10, 80, 60]]).features
    plain = features[:, : -extractor.card.pooled]  # without the core
    lengths, embedded = (np.linalg.norm(part, axis=1) for part in (plain, plain[:, extractor.card.pooled :]))
    np.testing.assert_allclose(lengths**2, 0.75 * np.linalg.norm(features, axis=1) ** 2, rtol=1e-4)
    np.testing.assert_allclose((embedded / lengths) ** 2, extractor.card.recipe["embedding_share"], rtol=1e-4)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 3000), (3000, 2), (5, 7), (2000, 1500)])
def test_photos_of_any_shape_have_regions(extractor: TwoGraphs, height: int, width: int) -> None:
    """A photo too thin for a location still has the whole of itself."""
    bag = extractor.bag(extractor.see_picture(noise(height, width)), "photo")
    assert bag.boxes[0].tolist() == [0, 0, width, height]
    assert len(bag) >= (1 if max(height, width) > 1000 * min(height, width) else 2)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "1", "CMYK"])
def test_pictures_of_any_kind_have_regions(extractor: TwoGraphs, tmp_path: Path, mode: str) -> None:
    ending = "tif" if mode == "CMYK" else "png"
    noise(60, 80).convert(mode).save(tmp_path / f"photo.{ending}")
    assert len(extractor.extract(tmp_path / f"photo.{ending}", "photo").bag) >= 2


def test_a_camera_held_on_its_side_changes_nothing(extractor: TwoGraphs, tmp_path: Path) -> None:
    picture = noise(64, 96)
    picture.save(tmp_path / "upright.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    picture.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "turned.png", exif=exif)
    upright, turned = (extractor.extract(tmp_path / name, name).bag for name in ("upright.png", "turned.png"))
    np.testing.assert_array_equal(upright.boxes, turned.boxes)
    np.testing.assert_array_equal(upright.features, turned.features)


def copy_of(model: Path, folder: Path) -> Path:
    return Path(shutil.copytree(model, folder / "model"))


@pytest.mark.parametrize("name", [PHOTO_GRAPH, BOX_GRAPH, CARD_NAME])
def test_a_model_without_one_of_its_files_is_refused(tiny_model: Path, tmp_path: Path, name: str) -> None:
    folder = copy_of(tiny_model, tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelError, match="holds no usable model"):
        open_extractor(folder)


def test_a_model_whose_graph_was_changed_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    folder = copy_of(tiny_model, tmp_path)
    content = bytearray((folder / BOX_GRAPH).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / BOX_GRAPH).write_bytes(content)
    with pytest.raises(ModelError, match=r"boxes\.onnx is not the file that its card describes"):
        open_extractor(folder)


def test_a_graph_that_cannot_run_is_refused_by_name(tiny_model: Path, tmp_path: Path) -> None:
    folder = copy_of(tiny_model, tmp_path)
    (folder / PHOTO_GRAPH).write_bytes(b"not a graph")
    card = json.loads((folder / CARD_NAME).read_text())
    card["hashes"][PHOTO_GRAPH] = file_hash(folder / PHOTO_GRAPH)
    (folder / CARD_NAME).write_text(json.dumps(card))
    with pytest.raises(ModelError, match=r"photo\.onnx cannot be run"):
        open_extractor(folder)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"image_size": 96}', "null", '{"rules": 3}'])
def test_a_card_that_is_none_is_refused(tiny_model: Path, tmp_path: Path, content: str) -> None:
    folder = copy_of(tiny_model, tmp_path)
    (folder / CARD_NAME).write_text(content)
    with pytest.raises(ModelError, match="holds no usable model"):
        read_card(folder)


def test_a_photo_is_looked_at_as_the_card_says(tiny_model: Path) -> None:
    extractor = open_extractor(tiny_model, threads=1)
    assert extractor.card.sides == (96, 160, 64)
    seen = extractor.see_picture(noise(200, 300))
    assert [(look.canvas, look.height, look.width) for look in seen.looks] == [
        ((96, 96), 64, 96),
        ((160, 160), 107, 160),
        ((64, 64), 43, 64),
    ]
    np.testing.assert_allclose(seen.scale, [300 / 96, 200 / 64] * 2)
    np.testing.assert_allclose(seen.enlargement(seen.looks[1]), [160 / 96, 107 / 64] * 2)
    with pytest.raises(ShapeError, match=r"longest sides \(96,\)"):
        extractor.see(as_photo(noise(200, 300), 96))


def test_candidates_of_a_look_are_corrected_in_that_look(tiny_model: Path) -> None:
    """The second stage sees a small box enlarged, as the first stage did."""
    extractor = open_extractor(tiny_model, threads=1)
    seen = extractor.see_picture(noise(200, 300))
    proposed, candidates = first_proposals(seen, extractor.card.rules), extractor.proposer.candidates(seen)
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
    once, often = open_extractor(folder, threads=1), open_extractor(tiny_model, threads=1)
    assert once.card.sides == (96,)
    assert once.fingerprint != often.fingerprint
    seen, all_looks = once.see_picture(noise(200, 300)), often.see_picture(noise(200, 300))
    assert len(seen.looks) == 1
    np.testing.assert_array_equal(seen.first.boxes, all_looks.first.boxes)
    assert len(once.bag(seen, "photo")) >= 2


def test_the_fingerprint_follows_weights_and_rules_but_not_the_figures(tiny_model: Path, tmp_path: Path) -> None:
    first = read_card(tiny_model).fingerprint
    folder = copy_of(tiny_model, tmp_path)
    card = json.loads((folder / CARD_NAME).read_text())
    card["metrics"] = {"voc07": 85}
    (folder / CARD_NAME).write_text(json.dumps(card))
    assert read_card(folder).fingerprint == first
    card["rules"]["final_overlap"] = 0.5
    (folder / CARD_NAME).write_text(json.dumps(card))
    assert read_card(folder).fingerprint != first


UNUSUAL = {
    "image size": lambda card: replace(card, image_size=card.image_size + 32),
    "rules": lambda card: replace(card, rules=replace(card.rules, looks=(1.0,))),
    "objectness": lambda card: replace(card, objectness=replace(card.objectness, bias=0.1)),
    "graph": lambda card: replace(card, hashes=card.hashes | {BOX_GRAPH: "0" * 64}),
}


@pytest.mark.parametrize("change", UNUSUAL)
def test_whatever_changes_a_bag_changes_the_fingerprint(extractor: TwoGraphs, change: str) -> None:
    other = replace(extractor, card=UNUSUAL[change](extractor.card))
    assert other.fingerprint != extractor.fingerprint
    assert replace(other, regions_wanted=20).fingerprint != other.fingerprint


def test_the_number_of_regions_and_the_code_are_in_the_fingerprint(
    extractor: TwoGraphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    fingerprints = {replace(extractor, regions_wanted=count).fingerprint for count in (20, 100, 299, 300, 301)}
    assert len(fingerprints) == 5
    assert extractor.card.fingerprint in fingerprints
    monkeypatch.setattr("tag2box.extract.card.CODE_VERSION", 2)
    assert extractor.fingerprint not in fingerprints


def test_the_fingerprint_of_the_model_that_ships_does_not_move() -> None:
    """All stores, class files and backgrounds that were ever made with it hang on it."""
    assert read_card(shipped_model()).fingerprint == "tag2box-lite0-8c5dbd1a48b93063"
    assert open_extractor(threads=1).fingerprint == "tag2box-lite0-8c5dbd1a48b93063"


def test_sides_are_multiples_of_32(tiny_model: Path) -> None:
    card = read_card(tiny_model)
    for looks, sides in (((1.0,), (96,)), ((1.0, 1.3), (96, 128)), ((1.0, 0.1, 2.0), (96, 32, 192))):
        assert replace(card, rules=ProposalRules(looks=looks)).sides == sides
