"""Many photos into a store: all that can be read, each once, whatever happens in between."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tag2box.errors import ForeignStoreError, PhotoError
from tag2box.extract import Extractor, PhotoFile, extract_photos, find_photos
from tag2box.store import FeatureStore, StoreHeader, StoreWriter


@pytest.fixture(scope="module")
def extractor(tiny_model: Path) -> Extractor:
    return Extractor(tiny_model, regions=10, threads=1)


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


def test_folders_are_searched_and_ids_tell_photos_apart(photos: Path) -> None:
    ids = [photo.image_id for photo in find_photos([photos])]
    assert ids == ["a.jpg", "b.png", "deep er/a.jpg", "deep er/ü '\"\n🦝.webp"]
    assert [photo.image_id for photo in find_photos([photos / "b.png", photos / "b.png"])] == ["b.png"]
    with pytest.raises(PhotoError, match=r"would both be called 'a\.jpg'"):
        find_photos([photos / "a.jpg", photos / "deep er" / "a.jpg"])


def test_places_without_photos_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PhotoError, match="there is no picture in"):
        find_photos([tmp_path / "empty"])
    with pytest.raises(PhotoError, match="there is nothing at"):
        find_photos([tmp_path / "nowhere"])


def test_a_broken_photo_is_named_and_the_others_go_on(extractor: Extractor, photos: Path, tmp_path: Path) -> None:
    (photos / "b.png").write_bytes(b"\x89PNG broken")
    (photos / "c.jpg").write_bytes(b"")
    done: list[int] = []
    outcome = extract_photos(extractor, find_photos([photos]), tmp_path / "store", lambda n, _: done.append(n))
    assert (outcome.written, outcome.known) == (3, 0)
    for name, error in zip(("b.png", "c.jpg"), outcome.unreadable, strict=True):
        assert str(photos / name) in error.wrong
    assert done == [1, 2, 3, 4, 5]
    assert FeatureStore(tmp_path / "store").image_ids == ("a.jpg", "deep er/a.jpg", "deep er/ü '\"\n🦝.webp")


def test_the_store_is_what_the_extractor_says(extractor: Extractor, photos: Path, tmp_path: Path) -> None:
    extract_photos(extractor, find_photos([photos]), tmp_path / "store", nothing)
    store = FeatureStore(tmp_path / "store", StoreHeader(extractor.fingerprint, extractor.card.dimension))
    bag = extractor.extract(photos / "b.png")
    np.testing.assert_allclose(store.bag("b.png").features, bag.features, atol=1e-3)
    np.testing.assert_array_equal(store.bag("b.png").boxes, bag.boxes)
    assert len(store.entry("b.png").source_hash) == 64


def test_a_second_run_does_only_what_is_missing(
    extractor: Extractor, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


def test_a_store_of_another_model_is_not_mixed(extractor: Extractor, photos: Path, tmp_path: Path) -> None:
    StoreWriter(tmp_path / "store", StoreHeader("another", extractor.card.dimension)).close()
    with pytest.raises(ForeignStoreError):
        extract_photos(extractor, [PhotoFile("b", photos / "b.png")], tmp_path / "store", nothing)
