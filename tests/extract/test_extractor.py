"""A photo becomes a bag, a box becomes a feature, and a model that is not whole is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tag2box.errors import ModelError, ShapeError
from tag2box.extract import BOX_GRAPH, CARD_NAME, PHOTO_GRAPH, Extractor, read_card
from tag2box.extract.card import file_hash


@pytest.fixture(scope="module")
def extractor(tiny_model: Path) -> Extractor:
    return Extractor(tiny_model, threads=1)


def noise(height: int, width: int, seed: int = 0) -> Image.Image:
    """A picture with something everywhere, soft enough to survive scaling."""
    small = np.random.default_rng(seed).integers(0, 256, size=(8, 8, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def test_the_whole_photo_comes_first_and_every_region_lies_inside(extractor: Extractor, tmp_path: Path) -> None:
    noise(90, 200).save(tmp_path / "a photo.png")
    bag = extractor.extract(tmp_path / "a photo.png")
    assert bag.image_id == "a photo.png"
    assert bag.boxes[0].tolist() == [0, 0, 200, 90]
    assert 2 <= len(bag) <= 301
    assert bag.features.shape == (len(bag), extractor.card.dimension)
    assert (bag.boxes[:, :2] >= 0).all()
    assert (bag.boxes[:, 2:] <= [200, 90]).all()
    assert (bag.boxes[:, 2:] > bag.boxes[:, :2]).all()
    again = extractor.extract(tmp_path / "a photo.png", "other")
    np.testing.assert_array_equal(again.features, bag.features)


def test_the_number_of_regions_is_what_was_asked_for(tiny_model: Path, tmp_path: Path) -> None:
    noise(100, 100).save(tmp_path / "photo.png")
    few = Extractor(tiny_model, regions=5, threads=1).extract(tmp_path / "photo.png")
    many = Extractor(tiny_model, threads=1).extract(tmp_path / "photo.png")
    assert len(few) == 6
    np.testing.assert_array_equal(few.boxes, many.boxes[:6])
    with pytest.raises(ShapeError, match="regions"):
        Extractor(tiny_model, regions=0)


def test_a_feature_depends_on_its_box_alone(extractor: Extractor) -> None:
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
    drawn = extractor.bag(seen, "photo", drawn=[[20, 10, 80, 60]])
    assert len(drawn) == len(bag) + 1
    assert drawn.boxes[-1].tolist() == [20, 10, 80, 60]
    np.testing.assert_array_equal(drawn.boxes[:-1], bag.boxes)
    with pytest.raises(ShapeError, match="boxes to describe"):
        extractor.describe(seen, [[5.0, 5.0, 1.0, 1.0]])


def test_the_whole_image_weighs_its_parts_by_the_share(extractor: Extractor) -> None:
    """The embedding decides the share of a cosine that the recipe says, and the length is that of the pooled maps."""
    seen = extractor.see_picture(noise(90, 200))
    features = extractor.describe(seen, [[0, 0, 200, 90], [20, 10, 80, 60]]).features
    lengths = np.linalg.norm(features, axis=1)
    embedded = np.linalg.norm(features[:, extractor.card.pooled :], axis=1)
    np.testing.assert_allclose((embedded / lengths) ** 2, extractor.card.recipe["embedding_share"], rtol=1e-4)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 3000), (3000, 2), (5, 7), (2000, 1500)])
def test_photos_of_any_shape_have_regions(extractor: Extractor, height: int, width: int) -> None:
    """A photo too thin for a location still has the whole of itself."""
    bag = extractor.bag(extractor.see_picture(noise(height, width)), "photo")
    assert bag.boxes[0].tolist() == [0, 0, width, height]
    assert len(bag) >= (1 if max(height, width) > 1000 * min(height, width) else 2)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "1", "CMYK"])
def test_pictures_of_any_kind_have_regions(extractor: Extractor, tmp_path: Path, mode: str) -> None:
    ending = "tif" if mode == "CMYK" else "png"
    noise(60, 80).convert(mode).save(tmp_path / f"photo.{ending}")
    assert len(extractor.extract(tmp_path / f"photo.{ending}")) >= 2


def test_a_camera_held_on_its_side_changes_nothing(extractor: Extractor, tmp_path: Path) -> None:
    picture = noise(64, 96)
    picture.save(tmp_path / "upright.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    picture.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "turned.png", exif=exif)
    upright, turned = (extractor.extract(tmp_path / name) for name in ("upright.png", "turned.png"))
    np.testing.assert_array_equal(upright.boxes, turned.boxes)
    np.testing.assert_array_equal(upright.features, turned.features)


def copy_of(model: Path, folder: Path) -> Path:
    return Path(shutil.copytree(model, folder / "model"))


@pytest.mark.parametrize("name", [PHOTO_GRAPH, BOX_GRAPH, CARD_NAME])
def test_a_model_without_one_of_its_files_is_refused(tiny_model: Path, tmp_path: Path, name: str) -> None:
    folder = copy_of(tiny_model, tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelError, match="holds no usable model"):
        Extractor(folder)


def test_a_model_whose_graph_was_changed_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    folder = copy_of(tiny_model, tmp_path)
    content = bytearray((folder / BOX_GRAPH).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / BOX_GRAPH).write_bytes(content)
    with pytest.raises(ModelError, match=r"boxes\.onnx is not the file that its card describes"):
        Extractor(folder)


def test_a_graph_that_cannot_run_is_refused_by_name(tiny_model: Path, tmp_path: Path) -> None:
    folder = copy_of(tiny_model, tmp_path)
    (folder / PHOTO_GRAPH).write_bytes(b"not a graph")
    card = json.loads((folder / CARD_NAME).read_text())
    card["hashes"][PHOTO_GRAPH] = file_hash(folder / PHOTO_GRAPH)
    (folder / CARD_NAME).write_text(json.dumps(card))
    with pytest.raises(ModelError, match=r"photo\.onnx cannot be run"):
        Extractor(folder)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"image_size": 96}', "null", '{"rules": 3}'])
def test_a_card_that_is_none_is_refused(tiny_model: Path, tmp_path: Path, content: str) -> None:
    folder = copy_of(tiny_model, tmp_path)
    (folder / CARD_NAME).write_text(content)
    with pytest.raises(ModelError, match="holds no usable model"):
        read_card(folder)


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
