"""Truncated and changed shards are named, never trusted and never a crash."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from samples import random_bag
from tag2box.errors import DamagedStoreError, InputError
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


def test_a_thousand_mutated_shards_never_crash(folder: Path, sound: bytes) -> None:
    """Any bytes may change: the shard is refused with a clear error, or verified as what it was."""
    shard, rng = folder / "shard-000000.safetensors", np.random.default_rng(2)
    passed = 0
    for _ in range(1000):
        content = bytearray(sound)
        header_only = rng.uniform() < 0.7
        limit = 8 + int.from_bytes(sound[:8], "little") if header_only else len(sound)
        for place in rng.integers(0, limit, size=int(rng.integers(1, 4))):
            content[place] = int(rng.integers(256))
        if rng.uniform() < 0.2:
            del content[int(rng.integers(len(content))) :]
        shard.write_bytes(content)
        with contextlib.suppress(InputError):
            store = FeatureStore(folder)
            sound_bags = sum(1 for _ in store.scan())
            list(store.verify())
            passed += sound_bags == 6
    assert passed < 300


def test_a_shard_that_vanishes_later_is_named(folder: Path, sound: bytes) -> None:
    shard = folder / "shard-000000.safetensors"
    shard.write_bytes(sound)
    store = FeatureStore(folder)
    shard.unlink()
    with pytest.raises(DamagedStoreError, match="shard-000000"):
        store.bag("image-3")
