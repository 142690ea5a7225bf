"""Truncated and changed shards are named, never trusted and never a crash."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from samples import random_bag
from tag2box.errors import DamagedStoreError, InputError, StoreError
from tag2box.store import FeatureStore, StoreHeader, StoreWriter


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("sound")
    rng = np.random.default_rng(0)
    with StoreWriter(folder, StoreHeader("e", 5)) as writer:
        for number in range(6):
            writer.append(random_bag(rng, 9, 5, f"image-{number}"))
    return (folder / "shard-000000.safetensors").read_bytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    StoreWriter(tmp_path, StoreHeader("e", 5)).close()
    return tmp_path


def test_a_truncated_shard_is_refused_wherever_it_ends(folder: Path, sound: bytes) -> None:
    shard = folder / "shard-000000.safetensors"
    for length in [0, 1, 7, 8, 9, 200, len(sound) // 2, len(sound) - 1]:
        shard.write_bytes(sound[:length])
        with pytest.raises(DamagedStoreError, match=r"shard-000000\.safetensors cannot be read"):
            FeatureStore(folder)


def test_a_truncated_shard_says_how_long_it_should_be(folder: Path, sound: bytes) -> None:
    (folder / "shard-000000.safetensors").write_bytes(sound[:-5])
    with pytest.raises(DamagedStoreError, match=f"it has {len(sound) - 5} bytes and should have at least"):
        FeatureStore(folder)


def test_verify_finds_every_changed_bit_of_the_tensors(folder: Path, sound: bytes) -> None:
    shard = folder / "shard-000000.safetensors"
    begin = 8 + int.from_bytes(sound[:8], "little")
    for place in np.random.default_rng(1).integers(begin, len(sound), size=40):
        shard.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
        with pytest.raises(DamagedStoreError):
            list(FeatureStore(folder).verify())


def _content(store: FeatureStore) -> list[tuple[str, bytes]]:
    """Everything that the store says of its images."""
    return [(str(store.entry(bag.image_id)), bag.features.tobytes() + bag.boxes.tobytes()) for bag in store.scan()]


def test_a_thousand_mutated_shards_never_crash_and_never_lie(folder: Path, sound: bytes) -> None:
    """Any bytes may change: the shard is refused with a clear error, or verified as what it was."""
    shard, rng = folder / "shard-000000.safetensors", np.random.default_rng(2)
    shard.write_bytes(sound)
    truth, passed = _content(FeatureStore(folder)), 0
    for _ in range(1000):
        shard.write_bytes(_mutated(sound, rng))
        with contextlib.suppress(InputError):
            store = FeatureStore(folder)
            content = _content(store)
            list(store.verify())
            assert content == truth
            passed += 1
    assert passed < 100


def _mutated(sound: bytes, rng: np.random.Generator) -> bytes:
    content = bytearray(sound)
    limit = 8 + int.from_bytes(sound[:8], "little") if rng.uniform() < 0.7 else len(sound)
    for place in rng.integers(0, limit, size=int(rng.integers(1, 4))):
        content[place] = int(rng.integers(256))
    if rng.uniform() < 0.2:
        del content[int(rng.integers(len(content))) :]
    return bytes(content)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"image-3", b"image-9"),
        (b'\\"height\\": 100,', b'\\"height\\": 200,'),
        (b'"fingerprint":"e"', b'"fingerprint":"f"'),
    ],
)
def test_changed_metadata_is_found(folder: Path, sound: bytes, before: bytes, after: bytes) -> None:
    assert before in sound
    (folder / "shard-000000.safetensors").write_bytes(sound.replace(before, after, 1))
    with pytest.raises(StoreError):
        list(FeatureStore(folder).verify())


def test_bytes_behind_the_end_are_found(folder: Path, sound: bytes) -> None:
    (folder / "shard-000000.safetensors").write_bytes(sound + b"more")
    with pytest.raises(DamagedStoreError, match=f"it has {len(sound) + 4} bytes and should have {len(sound)}"):
        FeatureStore(folder)


def test_a_shard_that_vanishes_later_is_named(folder: Path, sound: bytes) -> None:
    shard = folder / "shard-000000.safetensors"
    shard.write_bytes(sound)
    store = FeatureStore(folder)
    shard.unlink()
    with pytest.raises(DamagedStoreError, match="shard-000000"):
        store.bag("image-3")
