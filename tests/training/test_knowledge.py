"""What is known of base regions comes from base images only, and its background from the clean ones among them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, DatasetImage, read_coco
from tag2box.errors import ForeignStoreError, NoImagesOfClassError
from tag2box.methods.localizers import MixtureBackground, VmfBackground
from tag2box.methods.view import center_bag
from tag2box.model import load_knowledge
from tag2box.sphere import fit_vmf
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.training import fit_background, fit_knowledge, fit_spread, sample_background
from tag2box.types import Truth
from tag2box.worlds import PlantedImage, World, plant_background, plant_image

WORLD = World(distractors=(0, 0))
BASE, NOVEL = WORLD.names[:6], WORLD.names[6:]


def planted(count: int = 30) -> list[PlantedImage]:
    """Every third image shows a novel object too."""
    rng = np.random.default_rng(0)
    tags = [[BASE[n % 6], NOVEL[n % 6]] if n % 3 == 0 else [BASE[n % 6]] for n in range(count)]
    return [plant_image(WORLD, str(n), labels, rng) for n, labels in enumerate(tags)]


@pytest.fixture(scope="module")
def images() -> list[PlantedImage]:
    return planted()


@pytest.fixture(scope="module")
def store(images: list[PlantedImage], tmp_path_factory: pytest.TempPathFactory) -> FeatureStore:
    folder = tmp_path_factory.mktemp("store")
    with StoreWriter(folder, StoreHeader("planted", WORLD.dimension)) as writer:
        for image in images:
            writer.append(image.bag)
    return FeatureStore(folder)


def dataset(images: list[PlantedImage]) -> Dataset:
    return Dataset(WORLD.names, tuple(DatasetImage(Path("x"), 240, 320, image.truth) for image in images))


def test_only_clean_images_and_regions_beside_the_objects_are_taken(
    images: list[PlantedImage], store: FeatureStore
) -> None:
    sample = sample_background([store], [dataset(images)], BASE, seed=0)
    assert sample.images == 20
    assert len(sample.features) <= 20 * 50
    allowed = [
        store.bag(image.bag.image_id).features[box_overlaps(image.bag.boxes, image.truth.boxes).max(axis=1) < 0.3]
        for image in images
        if len(image.tags) == 1
    ]
    known = {row.tobytes() for rows in allowed for row in rows}
    assert all(row.astype(np.float32).tobytes() in known for row in sample.features)


def test_it_looks_like_the_background_of_the_world(images: list[PlantedImage], store: FeatureStore) -> None:
    sample = sample_background([store], [dataset(images)], BASE, seed=0)
    truth = fit_vmf(plant_background(WORLD, 5000))
    fitted = fit_background(sample, centered=False, components=1, rng=np.random.default_rng(0))
    assert isinstance(fitted, VmfBackground)
    assert fitted.vmf.mean @ truth.mean > 0.98
    assert fitted.vmf.kappa == pytest.approx(truth.kappa, rel=0.15)
    mixture = fit_background(sample, centered=True, components=3, rng=np.random.default_rng(0))
    assert isinstance(mixture, MixtureBackground)
    assert len(mixture.mixture.shares) == 3


def test_the_same_seed_draws_the_same_regions_in_any_order(images: list[PlantedImage], store: FeatureStore) -> None:
    first = sample_background([store], [dataset(images)], BASE, seed=1)
    second = sample_background([store], [dataset(images[::-1])], BASE, seed=1)
    other = sample_background([store], [dataset(images)], BASE, seed=2)
    assert {row.tobytes() for row in first.features} == {row.tobytes() for row in second.features}
    assert {row.tobytes() for row in first.features} != {row.tobytes() for row in other.features}


def test_several_stores_count_as_one(images: list[PlantedImage], store: FeatureStore, tmp_path: Path) -> None:
    halves = []
    for name, part in (("a", images[:15]), ("b", images[15:])):
        with StoreWriter(tmp_path / name, StoreHeader("planted", WORLD.dimension)) as writer:
            for image in part:
                writer.append(image.bag)
        halves.append(FeatureStore(tmp_path / name))
    together = sample_background(halves, [dataset(images)], BASE, seed=0)
    np.testing.assert_array_equal(
        together.features, sample_background([store], [dataset(images)], BASE, seed=0).features
    )
    with StoreWriter(tmp_path / "c", StoreHeader("another", WORLD.dimension)):
        pass
    with pytest.raises(ForeignStoreError):
        sample_background([store, FeatureStore(tmp_path / "c")], [dataset(images)], BASE, seed=0)


def test_an_image_is_judged_by_the_labels_of_its_own_file(images: list[PlantedImage], store: FeatureStore) -> None:
    """A second file that lacks a novel class must not make the images of the first look clean."""
    first, second = dataset(images[:15]), dataset(images[15:]).only(BASE)
    apart = [sample_background([store], [part], BASE, seed=0) for part in (first, second)]
    together = sample_background([store], [first, second], BASE, seed=0)
    assert together.images == apart[0].images + apart[1].images == 10 + 15


def test_without_clean_images_there_is_no_background(images: list[PlantedImage], store: FeatureStore) -> None:
    with pytest.raises(NoImagesOfClassError, match="shows base objects only"):
        sample_background([store], [dataset(images)], [], seed=0)


def test_everything_is_fitted_in_the_space_of_the_base_mean(images: list[PlantedImage], store: FeatureStore) -> None:
    known = fit_knowledge([store], [dataset(images)], BASE)
    sample = sample_background([store], [dataset(images)], BASE, seed=0)
    assert (known.fingerprint, known.images, known.regions) == ("planted", 20, len(sample.features))
    assert known.center is not None
    np.testing.assert_array_equal(known.center, sample.mean)
    np.testing.assert_array_equal(known.spread.covariance, fit_spread([store], sample.mean).covariance)
    moved = sample.features - sample.mean
    np.testing.assert_allclose(known.gaussian.mean, moved.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(known.tukey.mean, (np.sign(moved) * np.sqrt(np.abs(moved))).mean(axis=0), atol=1e-12)
    plain = fit_knowledge([store], [dataset(images)], BASE, centered=False)
    assert plain.center is None
    np.testing.assert_allclose(plain.gaussian.mean, (sample.features * sample.lengths[:, None]).mean(axis=0))
    for each in (known, plain):  # the paper's background, whatever else is centred
        np.testing.assert_array_equal(each.plain.vmf.mean, fit_vmf(sample.features).mean)


def test_objects_look_like_objects(images: list[PlantedImage], store: FeatureStore) -> None:
    known = fit_knowledge([store], [dataset(images)], BASE)
    on, beside = [], []
    for image in images:
        overlaps = box_overlaps(image.bag.boxes, image.truth.boxes).max(axis=1)
        odds = known.objectness(image.bag)
        on += odds[overlaps >= 0.5].tolist()
        beside += odds[overlaps < 0.3].tolist()
    assert np.mean(on) > np.mean(beside) + 1.0


def test_the_spread_by_the_definition(images: list[PlantedImage], store: FeatureStore) -> None:
    center = np.full(WORLD.dimension, 0.01)
    features = np.concatenate([center_bag(bag, center).features for bag in store.scan()]).astype(np.float64)
    spread = fit_spread([store], center)
    np.testing.assert_allclose(spread.mean, features.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(spread.covariance, np.cov(features.T, bias=True), atol=1e-9)


def test_an_empty_store_has_no_spread(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "empty", StoreHeader("planted", 4)):
        pass
    with pytest.raises(NoImagesOfClassError, match="hold no image"):
        fit_spread([FeatureStore(tmp_path / "empty")], None)


def test_the_command_fits_and_says_what_it_did(images: list[PlantedImage], store: FeatureStore, tmp_path: Path) -> None:
    truth = tmp_path / "boxes.json"
    truth.write_text(json.dumps(_coco(images)))
    (tmp_path / "0.jpg").touch()
    assert len(read_coco(truth)) == 30
    command = [sys.executable, "-m", "tag2box", "background", str(store.folder), "--truth", str(truth)]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "b.safetensors")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "regions of 20 images" in done.stdout
    assert load_knowledge(tmp_path / "b.safetensors").center is not None
    nowhere = subprocess.run([*command, "-o", str(tmp_path / "no" / "b")], capture_output=True, text=True, check=False)
    assert nowhere.returncode == 2
    assert "cannot be written" in nowhere.stderr
    wrong = subprocess.run([*command, "-o", "x", "--split", "coco61"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "no split 'coco61'" in wrong.stderr


def _coco(images: list[PlantedImage]) -> dict[str, object]:
    """The planted truth as a COCO file, with base classes called truck and novel ones person."""
    names = dict.fromkeys(BASE, 1) | dict.fromkeys(NOVEL, 2)
    annotations = [
        {"image_id": int(image.bag.image_id), "category_id": names[label], "bbox": [x0, y0, x1 - x0, y1 - y0]}
        for image in images
        for (x0, y0, x1, y1), label in _objects(image.truth)
    ]
    listed = [
        {"id": int(i.bag.image_id), "file_name": f"{i.bag.image_id}.jpg", "height": 240, "width": 320} for i in images
    ]
    categories = [{"id": 1, "name": "truck"}, {"id": 2, "name": "person"}]
    return {"images": listed, "annotations": annotations, "categories": categories}


def _objects(truth: Truth) -> list[tuple[list[float], str]]:
    return list(zip(truth.boxes.tolist(), truth.labels.tolist(), strict=True))
