"""A feature store gives back what was put in, and says clearly when it cannot."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from samples import random_bag
from tag2box.errors import (
    BusyStoreError,
    DamagedStoreError,
    ForeignStoreError,
    ShapeError,
    StoreError,
)
from tag2box.store import FeatureStore, StoreHeader, StoreWriter, as_stored, read_header
from tag2box.store.reader import MAPPED
from tag2box.store.shard import Layout, Tensors
from tag2box.types import ProposalBag

HEADER = StoreHeader("extractor-1", 5)
SMALL = 2000
"""Bytes of a shard that holds a handful of images."""


def bags(count: int, seed: int = 0) -> list[ProposalBag]:
    rng = np.random.default_rng(seed)
    return [random_bag(rng, int(rng.integers(1, 12)), 5, f"image {number} é") for number in range(count)]


def write(folder: Path, content: list[ProposalBag], shard_bytes: int = SMALL) -> Path:
    with StoreWriter(folder, HEADER, shard_bytes=shard_bytes) as writer:
        for bag in content:
            writer.append(bag, f"hash of {bag.image_id}")
    return folder


def assert_same(found: ProposalBag, wanted: ProposalBag) -> None:
    assert found.image_id == wanted.image_id
    np.testing.assert_array_equal(found.boxes, wanted.boxes)
    np.testing.assert_array_equal(found.norms, wanted.norms)
    np.testing.assert_allclose(found.features, wanted.features, atol=1e-3)
    np.testing.assert_allclose(found.objectness, wanted.objectness, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(found.features, axis=1), 1.0, rtol=1e-6)


def test_every_bag_comes_back_at_once_or_in_order(tmp_path: Path) -> None:
    content = bags(30)
    store = FeatureStore(write(tmp_path / "store", content), expected=HEADER)
    assert len(store) == 30
    assert len(store.shards) > 3
    assert store.image_ids == tuple(bag.image_id for bag in content)
    for found, wanted in zip(store.scan(), content, strict=True):
        assert_same(found, wanted)
    for wanted in reversed(content):
        assert_same(store.bag(wanted.image_id), wanted)
        entry = store.entry(wanted.image_id)
        assert entry.source_hash == f"hash of {wanted.image_id}"
        assert (entry.height, entry.width) == wanted.size
    assert [shard.path for shard in store.verify()] == [shard.path for shard in store.shards]


def test_shards_are_ordinary_safetensors(tmp_path: Path) -> None:
    content = bags(3)
    store = FeatureStore(write(tmp_path, content, shard_bytes=10**9))
    tensors = load_file(store.shards[0].path)
    assert {name: str(tensor.dtype) for name, tensor in tensors.items()} == {
        "features": "float16",
        "boxes": "float32",
        "objectness": "float16",
        "norms": "float32",
        "offsets": "int64",
    }
    assert tensors["offsets"].tolist() == np.cumsum([0, *(len(bag) for bag in content)]).tolist()
    np.testing.assert_allclose(tensors["features"], np.concatenate([bag.features for bag in content]), atol=1e-3)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_few_files_stay_open_whatever_is_read(tmp_path: Path) -> None:
    store, before = FeatureStore(write(tmp_path, bags(40), shard_bytes=300)), open_files()
    assert len(store.shards) > MAPPED
    kept = [*store.scan(), *(store.bag(image_id) for image_id in store.image_ids)]
    assert len(kept) == 80
    assert open_files() <= before + MAPPED
    del store
    assert open_files() <= before  # bags need no file


def test_a_shard_is_mapped_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, plain = FeatureStore(write(tmp_path, bags(30))), Layout.map
    mapped: list[Path] = []

    def counted(layout: Layout, path: Path) -> Tensors:
        mapped.append(path)
        return plain(layout, path)

    monkeypatch.setattr(Layout, "map", counted)
    for image_id in (*store.image_ids, *reversed(store.image_ids)):
        store.bag(image_id)
    list(store.scan())
    assert mapped == [shard.path for shard in store.shards]


def test_a_trusted_bag_is_the_bag_that_the_checks_make(tmp_path: Path) -> None:
    """To the bit: the store skips checks, not arithmetic."""
    store = FeatureStore(write(tmp_path, bags(8), shard_bytes=10**9))
    tensors = load_file(store.shards[0].path)
    for place, image_id in enumerate(store.image_ids):
        rows = slice(*tensors["offsets"][place : place + 2])
        features, objectness = (tensors[name][rows] for name in ("features", "objectness"))
        checked = ProposalBag(image_id, tensors["boxes"][rows], features, objectness, tensors["norms"][rows])
        for found in (store.bag(image_id), as_stored(bags(8)[place])):
            for name in ("boxes", "features", "objectness", "norms"):
                values = getattr(found, name)
                assert values.dtype == np.float32
                assert type(values) is np.ndarray
                assert values.tobytes() == getattr(checked, name).tobytes()
                with pytest.raises(ValueError, match="read-only"):
                    values[0] = 0


def test_sizes_that_rounding_has_spoiled_are_mended(tmp_path: Path) -> None:
    """Older extractors wrote 499.99997 for 500."""
    boxes = np.array([[0, 0, 499.99997, 374.99997], [5, 5, 99, 99]], dtype=np.float32)
    bag = ProposalBag.from_raw("old", boxes, np.eye(5)[:2], [0.5, 0.5])
    assert bag.size == (375, 500)
    path = write(tmp_path, [bag]) / "shard-000000.safetensors"
    old = path.read_bytes()
    before, after = b'\\"height\\": 375, \\"width\\": 500', b'\\"height\\": 374.99997, \\"width\\": 499.99997'
    assert before in old
    padded = old.replace(before, after)
    length = int.from_bytes(old[:8], "little") + len(after) - len(before)
    path.write_bytes(length.to_bytes(8, "little") + padded[8:])
    entry = FeatureStore(tmp_path).entry("old")
    assert (entry.height, entry.width) == (375, 500)
    assert isinstance(entry.width, int)


def test_shards_are_mapped_not_read(tmp_path: Path) -> None:
    store = FeatureStore(write(tmp_path, bags(3)))
    tensors = store.shards[0].layout.map(store.shards[0].path)
    owner = tensors["features"].base
    while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap):
        owner = owner.base
    assert isinstance(owner, np.memmap)


def test_appending_goes_on_where_it_stopped(tmp_path: Path) -> None:
    content = bags(20)
    write(tmp_path, content[:12])
    with StoreWriter(tmp_path, HEADER, shard_bytes=SMALL) as writer:
        assert [bag.image_id in writer for bag in content] == [True] * 12 + [False] * 8
        for bag in content:
            if bag.image_id not in writer:
                writer.append(bag)
    assert FeatureStore(tmp_path).image_ids == tuple(bag.image_id for bag in content)


def test_an_interrupted_block_keeps_what_was_appended(tmp_path: Path) -> None:
    content = bags(4)
    with pytest.raises(KeyboardInterrupt):
        _append_and_interrupt(tmp_path, content)
    assert len(FeatureStore(tmp_path)) == 4


def _append_and_interrupt(folder: Path, content: list[ProposalBag]) -> None:
    with StoreWriter(folder, HEADER) as writer:
        for bag in content:
            writer.append(bag)
        raise KeyboardInterrupt


def test_an_empty_store_is_a_store(tmp_path: Path) -> None:
    store = FeatureStore(write(tmp_path, []))
    assert (len(store), list(store.scan()), list(store.verify())) == (0, [], [])


def test_leftovers_of_a_crash_are_swept_away(tmp_path: Path) -> None:
    write(tmp_path, bags(2))
    (tmp_path / ".shard-000001.safetensors.77.part").write_bytes(b"half")
    write(tmp_path, [])
    assert not list(tmp_path.glob(".*.part"))


def test_a_store_of_another_extractor_is_refused(tmp_path: Path) -> None:
    write(tmp_path, bags(2))
    other = StoreHeader("extractor-2", 5)
    with pytest.raises(ForeignStoreError, match=r"'extractor-1'[\s\S]*'extractor-2'"):
        FeatureStore(tmp_path, expected=other)
    with pytest.raises(ForeignStoreError):
        StoreWriter(tmp_path, other)
    StoreWriter(tmp_path, HEADER).close()  # the refused writer has let the lock go


def test_a_shard_of_another_extractor_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a", bags(2))
    with StoreWriter(tmp_path / "b", StoreHeader("extractor-2", 5)) as writer:
        writer.append(random_bag(np.random.default_rng(9), image_id="stranger"))
    (tmp_path / "b" / "shard-000000.safetensors").rename(tmp_path / "a" / "shard-000009.safetensors")
    with pytest.raises(ForeignStoreError, match=r"shard-000009"):
        FeatureStore(tmp_path / "a")


def test_the_same_image_twice_is_refused(tmp_path: Path) -> None:
    write(tmp_path, bags(2))
    with StoreWriter(tmp_path, HEADER) as writer, pytest.raises(StoreError, match="already"):
        writer.append(bags(1)[0])
    shard = tmp_path / "shard-000000.safetensors"
    (tmp_path / "shard-000001.safetensors").write_bytes(shard.read_bytes())
    with pytest.raises(DamagedStoreError, match="image 'image 0 é' is in shard-000000"):
        FeatureStore(tmp_path)


def test_a_bag_of_another_dimension_is_refused(tmp_path: Path) -> None:
    with StoreWriter(tmp_path, HEADER) as writer, pytest.raises(ShapeError, match="features of image"):
        writer.append(random_bag(np.random.default_rng(0), d=6))


def test_only_one_process_writes_at_a_time(tmp_path: Path) -> None:
    with StoreWriter(tmp_path, HEADER), pytest.raises(BusyStoreError, match="another process is writing"):
        StoreWriter(tmp_path, HEADER)


def test_a_closed_writer_stays_closed(tmp_path: Path) -> None:
    content = bags(3)
    writer = StoreWriter(tmp_path, HEADER)
    writer.append(content[0])
    writer.close()
    writer.close()
    with StoreWriter(tmp_path, HEADER) as second:
        second.append(content[1])
        with pytest.raises(StoreError, match="is closed"):
            writer.append(content[2])
        with pytest.raises(StoreError, match="is closed"):
            writer.seal()
    assert FeatureStore(tmp_path).image_ids == (content[0].image_id, content[1].image_id)


@pytest.mark.parametrize("dimension", [0, -3, 2.5])
def test_a_header_that_makes_no_sense_is_refused(dimension: float) -> None:
    with pytest.raises(StoreError, match="dimension"):
        StoreHeader("e", dimension)  # type: ignore[arg-type]


def test_an_image_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="image 'nobody' is not in the store"):
        FeatureStore(write(tmp_path, bags(2))).bag("nobody")


def test_a_folder_that_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"it has no store\.json"):
        FeatureStore(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used"):
        StoreWriter(tmp_path / "file" / "store", HEADER)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "[]",
        "{}",
        "nonsense",
        '{"more": 1}',
        '{"fingerprint": 1, "dimension": 5, "format": "tag2box-store-1"}',
        '{"fingerprint": "x", "dimension": 5, "format": "tag2box-store-9"}',
    ],
)
def test_a_damaged_header_is_refused(tmp_path: Path, header: str) -> None:
    (tmp_path / "store.json").write_text(header)
    with pytest.raises(DamagedStoreError, match=r"store\.json cannot be read"):
        read_header(tmp_path)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """A disk on which no file may grow beyond ``size`` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    content = bags(12)
    with StoreWriter(tmp_path, HEADER, shard_bytes=10**9) as writer:
        for bag in content:
            writer.append(bag)
        with largest_file(100), pytest.raises(StoreError, match=r"shard-000000.* cannot be written"):
            writer.seal()
        assert not list(tmp_path.glob("*.safetensors"))
    assert len(FeatureStore(tmp_path)) == 12


def test_the_header_is_readable_json(tmp_path: Path) -> None:
    write(tmp_path, [])
    assert json.loads((tmp_path / "store.json").read_text()) == {
        "fingerprint": "extractor-1",
        "dimension": 5,
        "format": "tag2box-store-1",
    }


def test_the_size_of_an_image_is_known_without_its_bag(tmp_path: Path) -> None:
    boxes = np.array([[0, 0, 640, 480], [5, 5, 99, 99]], dtype=np.float32)
    wide = ProposalBag.from_raw("wide", boxes, np.eye(5)[:2], [0.5, 0.5])
    store = FeatureStore(write(tmp_path, [*bags(2), wide]))
    assert store.size("wide") == (480, 640)  # height first
    with pytest.raises(StoreError, match="image 'tall' is not in the store"):
        store.size("tall")


def test_a_shard_of_other_dimensions_is_refused_even_of_the_same_extractor(tmp_path: Path) -> None:
    write(tmp_path / "a", bags(2))
    with StoreWriter(tmp_path / "b", StoreHeader("extractor-1", 6)) as writer:
        writer.append(random_bag(np.random.default_rng(9), d=6, image_id="stranger"))
    (tmp_path / "b" / "shard-000000.safetensors").rename(tmp_path / "a" / "shard-000007.safetensors")
    with pytest.raises(ForeignStoreError, match=r"shard-000007.* with 6 dimensions"):
        FeatureStore(tmp_path / "a")


def test_files_that_are_no_shards_are_left_alone(tmp_path: Path) -> None:
    store = write(tmp_path, bags(3))
    for name in ("notes.txt", "shard-old.safetensors", "model.safetensors", "shard-000009.safetensors.bak"):
        (store / name).write_text("not a shard")
    assert len(FeatureStore(store)) == 3
    with StoreWriter(store, HEADER) as writer:
        writer.append(bags(4)[3])
    assert (store / "shard-old.safetensors").read_text() == "not a shard"
    assert FeatureStore(store).image_ids == tuple(bag.image_id for bag in bags(4))


def test_a_gap_among_the_shards_is_not_filled(tmp_path: Path) -> None:
    """A shard that somebody moved out may come back: its name must be free then."""
    write(tmp_path, bags(12), shard_bytes=300)
    moved = sorted(tmp_path.glob("shard-*"))[1]
    content, gone = moved.read_bytes(), len(FeatureStore(tmp_path))
    moved.unlink()
    with StoreWriter(tmp_path, HEADER) as writer:
        writer.append(random_bag(np.random.default_rng(5), image_id="new"))
    assert not moved.exists()
    moved.write_bytes(content)
    assert len(FeatureStore(tmp_path)) == gone + 1


def test_a_lean_bag_is_the_bag_and_holds_no_features(tmp_path: Path) -> None:
    store, before = FeatureStore(write(tmp_path, bags(40), shard_bytes=300)), open_files()
    lean = [store.lean_bag(image_id) for image_id in store.image_ids]
    assert open_files() <= before + MAPPED
    for one in lean:
        whole = store.bag(one.image_id)
        assert callable(one.directions.source)
        for name in ("boxes", "features", "objectness", "norms"):
            np.testing.assert_array_equal(getattr(one, name), getattr(whole, name))
