"""Many photos into a store: all that can be read, each once, whatever happens in between."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from PIL import Image

from planted_extractor import PlantedExtractor
from tag2box.errors import ForeignStoreError, PhotoError, StoreError
from tag2box.extract import (
    Extracted,
    Extractor,
    PhotoFile,
    TwoGraphs,
    each_bag,
    each_result,
    extract_photos,
    find_photos,
    open_extractor,
)
from tag2box.store import FeatureStore, StoreHeader, StoreWriter
from tag2box.types import ProposalBag


@pytest.fixture(scope="module")
def extractor(tiny_model: Path) -> TwoGraphs:
    return open_extractor(tiny_model, regions=10, threads=1)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    (folder / "deep er").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name in ("a.jpg", "b.png", "deep er/a.jpg", "deep er/ü '\"\n🦝.webp"):
        Image.fromarray(rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)).save(folder / name)
    (folder / "notes.txt").write_text("no picture")
    return folder


def nothing(done: int, figures: dict[str, float]) -> None:
    """Report to nobody."""


def test_a_broken_photo_is_named_and_the_others_go_on(extractor: Extractor, photos: Path, tmp_path: Path) -> None:
    (photos / "b.png").write_bytes(b"\x89PNG broken")
    (photos / "c.jpg").write_bytes(b"")
    done: list[int] = []
    outcome = extract_photos(extractor, find_photos([photos]), tmp_path / "store", lambda n, _: done.append(n))
    assert (outcome.written, outcome.known) == (3, 0)
    for name, error in outcome.unreadable.items():
        assert str(photos / name) in error.wrong
    assert done == [1, 2, 3, 4, 5]
    assert FeatureStore(tmp_path / "store").image_ids == ("a.jpg", "deep er/a.jpg", "deep er/ü '\"\n🦝.webp")


def test_the_store_is_what_the_extractor_says(extractor: TwoGraphs, photos: Path, tmp_path: Path) -> None:
    extract_photos(extractor, find_photos([photos]), tmp_path / "store", nothing)
    store = FeatureStore(tmp_path / "store", StoreHeader(extractor.fingerprint, extractor.card.dimension))
    bag = extractor.extract(photos / "b.png", "b.png").bag
    np.testing.assert_allclose(store.bag("b.png").features, bag.features, atol=1e-3)
    np.testing.assert_array_equal(store.bag("b.png").boxes, bag.boxes)
    assert len(store.entry("b.png").source_hash) == 64


def test_a_second_run_does_only_what_is_missing(
    extractor: TwoGraphs, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find_photos([photos])
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with pytest.raises(KeyboardInterrupt):
        extract_photos(extractor, found, tmp_path / "store", interrupt_at(2))
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    outcome = extract_photos(extractor, found, tmp_path / "store", nothing)
    assert (outcome.written, outcome.known) == (2, 2)
    extract_photos(extractor, found, tmp_path / "at once", nothing)
    once, twice = (FeatureStore(tmp_path / name) for name in ("at once", "store"))
    assert once.image_ids == twice.image_ids
    for first, second in zip(once.scan(), twice.scan(), strict=True):
        np.testing.assert_array_equal(first.features, second.features)


def interrupt_at(count: int) -> Callable[[int, dict[str, float]], None]:
    def report(done: int, figures: dict[str, float]) -> None:
        if done == count:
            raise KeyboardInterrupt

    return report


def test_a_store_of_another_model_is_not_mixed(extractor: TwoGraphs, photos: Path, tmp_path: Path) -> None:
    StoreWriter(tmp_path / "store", StoreHeader("another", extractor.card.dimension)).close()
    with pytest.raises(ForeignStoreError):
        extract_photos(extractor, [PhotoFile("b", photos / "b.png")], tmp_path / "store", nothing)


def test_bags_of_different_numbers_of_regions_are_not_mixed(extractor: TwoGraphs, photos: Path, tmp_path: Path) -> None:
    first, second = PhotoFile("a", photos / "a.jpg"), PhotoFile("b", photos / "b.png")
    extract_photos(extractor, [first], tmp_path / "store", nothing)
    with pytest.raises(ForeignStoreError, match="was written by extractor"):
        extract_photos(replace(extractor, regions_wanted=20), [second], tmp_path / "store", nothing)
    assert FeatureStore(tmp_path / "store").image_ids == ("a",)


def test_photos_that_the_store_knows_must_be_the_same_files(photos: Path, tmp_path: Path) -> None:
    """Another photo of the same name is refused before any work, and so is one that was replaced."""
    extractor, folder = PlantedExtractor(), tmp_path / "store"
    extract_photos(extractor, find_photos([photos]), folder, nothing)
    other = tmp_path / "other"
    shutil.copytree(photos / "deep er", other)
    shutil.copy(photos / "b.png", other / "new.png")
    with pytest.raises(StoreError, match=r"other/a\.jpg is not the photo that it was .* \(1 of 3 photos\)"):
        extract_photos(extractor, find_photos([other]), folder, nothing)
    for path in photos.rglob("*.*g"):
        Image.new("RGB", (40, 50)).save(path)
    with pytest.raises(
        StoreError, match=r"a\.jpg, .*b\.png, .* are not the photos that they were .* \(3 of 4 photos\)"
    ):
        extract_photos(extractor, find_photos([photos]), folder, nothing)
    assert len(extractor.seen) == 4
    assert len(FeatureStore(folder)) == 4


def test_many_changed_photos_are_counted_and_some_are_named(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for name in "abcdefgh":
        Image.new("RGB", (4, 4)).save(tmp_path / "photos" / f"{name}.png")
    extract_photos(PlantedExtractor(), find_photos([tmp_path / "photos"]), tmp_path / "store", nothing)
    for name in "abcdefgh":
        Image.new("RGB", (5, 5)).save(tmp_path / "photos" / f"{name}.png")
    with pytest.raises(StoreError, match=r"a\.png, .*e\.png and 3 more are not the photos"):
        extract_photos(PlantedExtractor(), find_photos([tmp_path / "photos"]), tmp_path / "store", nothing)


def test_each_core_looks_at_a_photo_of_its_own_and_products_take_no_others(photos: Path) -> None:
    """BLAS threads of several cores' photos would only wait for each other."""
    seen: list[int] = []

    def blas_threads() -> int:
        return max(pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas")

    class Watched(PlantedExtractor):
        def extract(self, picture: Any, image_id: str) -> Extracted:
            seen.append(blas_threads())
            return super().extract(picture, image_id)

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        for _ in each_result(Watched(), find_photos([photos])):
            pass
        assert blas_threads() == before
    assert seen == [1] * 4
    if before == 1:
        pytest.skip("BLAS has one thread here, whatever it is told")


def test_bags_stay_when_whoever_wants_them_stops(photos: Path, tmp_path: Path) -> None:
    """They are the same, to the bit, whether they were in the store or not."""
    found, folder = find_photos([photos]), tmp_path / "store"
    (photos / "b.png").write_bytes(b"no picture")
    at_once = dict(each_bag(PlantedExtractor(), found, tmp_path / "at once"))
    stopped = each_bag(PlantedExtractor(), found, folder)
    assert [next(stopped)[0].image_id for _ in range(3)] == ["a.jpg", "b.png", "deep er/a.jpg"]
    stopped.close()
    extractor = PlantedExtractor()
    bags = dict(each_bag(extractor, found, folder))
    assert extractor.seen == ["deep er/ü '\"\n🦝.webp"]
    assert list(bags) == list(at_once) == found
    assert isinstance(bags[found[1]], PhotoError)
    for photo in (found[0], found[2], found[3]):
        now, then = bags[photo], at_once[photo]
        assert isinstance(now, ProposalBag)
        assert isinstance(then, ProposalBag)
        for name in ("boxes", "features", "objectness", "norms"):
            assert getattr(now, name).tobytes() == getattr(then, name).tobytes()


def test_a_planted_extractor_is_an_extractor(photos: Path) -> None:
    extractor: Extractor = PlantedExtractor()
    found = extractor.extract(photos / "a.jpg", "a")
    assert found.bag.size == (found.height, found.width) == (40, 50)
    drawn = extractor.describe_boxes(photos / "a.jpg", "a", [[0, 0, 25, 20]])
    np.testing.assert_array_equal(drawn.bag.features, found.bag.features[:2])
