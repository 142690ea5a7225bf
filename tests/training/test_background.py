"""The background comes from clean base images only, and survives the trip to disk."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tag2box.boxes import box_overlaps
from tag2box.data import Dataset, DatasetImage, read_coco
from tag2box.errors import BackgroundFileError, ForeignStoreError, NoImagesOfClassError
from tag2box.methods.localizers import MixtureBackground, VmfBackground, load_background, save_background
from tag2box.sphere import fit_vmf
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.training import fit_background, sample_background
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
    fitted = fit_background(sample, "planted", centered=False, components=1, rng=np.random.default_rng(0))
    assert fitted.mixture.means[0] @ truth.mean > 0.98
    assert fitted.mixture.kappas[0] == pytest.approx(truth.kappa, rel=0.15)


def test_the_same_seed_draws_the_same_regions_in_any_order(images: list[PlantedImage], store: FeatureStore) -> None:
    first = sample_background([store], [dataset(images)], BASE, seed=1)
    second = sample_background([store], [dataset(images[::-1])], BASE, seed=1)
    other = sample_background([store], [dataset(images)], BASE, seed=2)
    assert {row.tobytes() for row in first.features} == {row.tobytes() for row in second.features}
    assert {row.tobytes() for row in first.features} != {row.tobytes() for row in other.features}


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("components", [1, 3])
def test_a_background_comes_back_from_disk(
    images: list[PlantedImage], store: FeatureStore, tmp_path: Path, centered: bool, components: int
) -> None:
    sample = sample_background([store], [dataset(images)], BASE, seed=0)
    fitted = fit_background(sample, "e", centered=centered, components=components, rng=np.random.default_rng(0))
    save_background(tmp_path / "b.safetensors", fitted)
    back = load_background(tmp_path / "b.safetensors")
    assert isinstance(back.model, VmfBackground if components == 1 else MixtureBackground)
    assert (back.fingerprint, back.images, back.regions) == ("e", fitted.images, fitted.regions)
    assert (back.center is None) != centered
    np.testing.assert_array_equal(back.model.log_score(images[0].bag), fitted.model.log_score(images[0].bag))


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


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x02\x00\x00\x00\x00\x00\x00\x00{}"])
def test_a_file_that_is_no_background_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "b.safetensors").write_bytes(content)
    with pytest.raises(BackgroundFileError, match=r"b\.safetensors cannot be read as a background"):
        load_background(tmp_path / "b.safetensors")


def test_mutated_files_are_refused_or_read_but_never_crash(
    images: list[PlantedImage], store: FeatureStore, tmp_path: Path
) -> None:
    sample = sample_background([store], [dataset(images)], BASE, seed=0)
    fitted = fit_background(sample, "e", centered=True, components=2, rng=np.random.default_rng(0))
    path, rng = tmp_path / "b.safetensors", np.random.default_rng(3)
    save_background(path, fitted)
    sound = path.read_bytes()
    for _ in range(300):
        content = bytearray(sound)
        for place in rng.integers(0, 700, size=3):
            content[place] = int(rng.integers(256))
        path.write_bytes(content)
        try:
            load_background(path)
        except BackgroundFileError:
            continue


def test_the_command_fits_and_says_what_it_did(images: list[PlantedImage], store: FeatureStore, tmp_path: Path) -> None:
    truth = tmp_path / "boxes.json"
    truth.write_text(json.dumps(_coco(images)))
    (tmp_path / "0.jpg").touch()
    assert len(read_coco(truth)) == 30
    command = [sys.executable, "-m", "tag2box", "background", str(store.folder), "--truth", str(truth)]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "b.safetensors"), "--center"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "regions of 20 images" in done.stdout
    assert load_background(tmp_path / "b.safetensors").center is not None
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
