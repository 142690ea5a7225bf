"""Extraction by several machines, three of them on this one: the same bytes, whatever is lost."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import tag2box
from command_line import run
from tag2box.cluster import extract_on_cluster, extracting
from tag2box.data.photo_files import PhotoFile, find_photos
from tag2box.errors import StoreError
from tag2box.extract import REGIONS
from tag2box.store import FeatureStore

ray = pytest.importorskip("ray", reason="Ray is not installed: make cluster installs it")

ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not know the tests

DEMO = Path(tag2box.__file__).parent / "assets" / "demo" / "photos"
DEADLY = "deadly"


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[PhotoFile]:
    monkeypatch.setattr(extracting, "CHUNK", 3)
    shutil.copytree(DEMO, tmp_path / "photos")
    return find_photos([tmp_path / "photos"])[:12]


def extract(address: str, photos: list[PhotoFile], folder: Path) -> Any:
    return extract_on_cluster(address, photos, folder, lambda done, figures: None, model=None, regions=REGIONS)


def shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("shard-*"))}


@pytest.fixture(scope="module")
def undisturbed(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What three machines make of twelve photos when nothing happens."""
    folder = tmp_path_factory.mktemp("calm")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extracting, "CHUNK", 3)
        outcome = extract(cluster.address, find_photos([DEMO])[:12], folder)
    assert (outcome.written, outcome.known, outcome.unreadable) == (12, 0, {})
    return shards(folder)


def test_one_machine_with_several_cores_writes_the_same_bytes(
    undisturbed: dict[str, bytes], photos: list[PhotoFile], tmp_path: Path
) -> None:
    assert len(undisturbed) == 4
    assert extract("local", photos, tmp_path / "store").written == 12
    assert shards(tmp_path / "store") == undisturbed
    store = FeatureStore(tmp_path / "store")
    assert store.image_ids == tuple(photo.image_id for photo in photos)
    assert len(list(store.verify())) == 4


def test_what_is_sealed_is_not_done_again(
    cluster: Any, undisturbed: dict[str, bytes], photos: list[PhotoFile], tmp_path: Path
) -> None:
    folder = tmp_path / "store"
    extract(cluster.address, photos[:6], folder)
    before = {path: path.stat().st_mtime_ns for path in folder.glob("shard-*")}
    outcome = extract(cluster.address, photos, folder)
    assert (outcome.written, outcome.known) == (6, 6)
    assert shards(folder) == undisturbed
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())


def test_a_machine_that_is_lost_costs_nothing(
    cluster: Any, undisturbed: dict[str, bytes], photos: list[PhotoFile], tmp_path: Path
) -> None:
    extra = cluster.add_node(num_cpus=2, object_store_memory=80 * 2**20)
    cluster.wait_for_nodes()

    def lose() -> None:
        while not list((tmp_path / "store").glob("shard-*")):
            time.sleep(0.05)
        cluster.remove_node(extra, allow_graceful=False)

    loser = threading.Thread(target=lose)
    loser.start()
    assert extract(cluster.address, photos, tmp_path / "store").written == 12
    loser.join()
    assert shards(tmp_path / "store") == undisturbed


def test_a_photo_that_kills_its_worker_is_named_and_the_rest_goes_on(
    cluster: Any, photos: list[PhotoFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = photos[4].path.with_name(f"{DEADLY}.jpg")
    photos[4].path.rename(bad)
    photos[4] = PhotoFile(photos[4].image_id, bad)
    monkeypatch.setattr(extracting, "RETRIES", 0)
    monkeypatch.setattr(extracting, "look", look_or_die)
    monkeypatch.setattr(extracting, "try_alone", alone_or_die)
    outcome = extract(cluster.address, photos, tmp_path / "store")
    assert outcome.written == 11
    assert [DEADLY in error.wrong for error in outcome.unreadable.values()] == [True]
    assert len(FeatureStore(tmp_path / "store")) == 11


def die_if_deadly(photo: PhotoFile) -> None:
    if DEADLY in photo.path.name:
        os.kill(os.getpid(), signal.SIGKILL)


LOOK, TRY_ALONE = extracting.look, extracting.try_alone


def look_or_die(chunk: extracting.Chunk) -> extracting.Looked:
    for photo in chunk.photos:
        die_if_deadly(photo)
    return LOOK(chunk)


def alone_or_die(photo: PhotoFile, model: Path | None, regions: int) -> None:
    die_if_deadly(photo)
    TRY_ALONE(photo, model, regions)


def full_disk(chunk: extracting.Chunk) -> extracting.Looked:
    if chunk.shard.name.startswith("shard-000002"):
        return extracting.Looked(0, {}, StoreError("no room.", "room", "make some."))
    return LOOK(chunk)


def test_a_full_disk_is_said_and_what_was_sealed_stays(
    cluster: Any, undisturbed: dict[str, bytes], photos: list[PhotoFile], tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extracting, "look", full_disk)
        with pytest.raises(StoreError, match="no room"):
            extract(cluster.address, photos, tmp_path / "store")
    assert extract(cluster.address, photos, tmp_path / "store").written >= 3
    assert shards(tmp_path / "store") == undisturbed


def test_the_command_and_an_address_where_nobody_is(photos: list[PhotoFile], tmp_path: Path) -> None:
    done = run("extract", photos[0].path.parent, "-o", tmp_path / "store", "--cluster", "127.0.0.1:1")
    assert done.returncode == 2
    assert "no Ray cluster answers at 127.0.0.1:1" in done.stderr
