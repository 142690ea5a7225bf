"""A run on several machines, three of them on this one: the same boxes, whatever is lost in the middle of EM."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import tag2box
from tag2box.cluster import connected, work_on_cluster
from tag2box.data import read_tags
from tag2box.data.formats.coco import BOXES_NAME
from tag2box.errors import ClusterError, RunError
from tag2box.model import Model
from tag2box.product import machines
from tag2box.product.machines import HERE, Machines
from tag2box.product.run import Run
from tag2box.product.run_files import CORRECTIONS_NAME
from tag2box.rows import Photos
from tag2box.store.reader import SHARD_PATTERN

ray = pytest.importorskip("ray", reason="Ray is not installed: make cluster installs it")

from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: E402

ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not know the tests

DEMO = Path(tag2box.__file__).parent / "assets" / "demo" / "photos"
LEARN = machines.learn_by_paths


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four photos of each of two things."""
    folder = tmp_path_factory.mktemp("photos")
    for tag in ("ball", "lamp"):
        (folder / tag).mkdir()
        for photo in sorted(DEMO.glob(f"{tag}-*"))[:4]:
            shutil.copy(photo, folder / tag)
    return folder


@pytest.fixture(scope="module")
def undisturbed(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run as one process makes it."""
    folder = tmp_path_factory.mktemp("calm") / "run"
    with Run.begin(folder, read_tags(photos), Model.open(threads=1), HERE) as run:
        run.extract()
        run.localize()
    return folder


def run_on(address: str, photos: Path, folder: Path) -> bytes:
    with Run.begin(folder, read_tags(photos), Model.open(threads=1), Machines(address)) as run:
        run.extract()
        run.localize()
    return (folder / BOXES_NAME).read_bytes()


def wait_for_em(trace: Path) -> None:
    while not trace.exists() or len(trace.read_text()) < 15:
        time.sleep(0.02)


def test_a_cluster_finds_what_one_process_finds(cluster: Any, undisturbed: Path, photos: Path, tmp_path: Path) -> None:
    assert run_on(cluster.address, photos, tmp_path / "run") == (undisturbed / BOXES_NAME).read_bytes()


def test_what_a_person_drew_counts_there_too(cluster: Any, undisturbed: Path, photos: Path, tmp_path: Path) -> None:
    from tag2box.product.corrections import Shows

    boxes = []
    for name, at in (("here", HERE), ("there", Machines(cluster.address))):
        shutil.copytree(undisturbed, tmp_path / name)
        with Run.begin(tmp_path / name, read_tags(photos), Model.open(threads=1), at) as run:
            photo = run.given.photos[0]
            run.correct(Shows(photo.name, next(iter(photo.tags)), (30.0, 40.0, 130.0, 150.0)))
            run.localize()
        assert (tmp_path / name / CORRECTIONS_NAME).exists()
        boxes.append((tmp_path / name / BOXES_NAME).read_bytes())
    assert boxes[0] == boxes[1]
    assert boxes[0] != (undisturbed / BOXES_NAME).read_bytes()


def test_a_machine_that_is_lost_in_the_middle_of_em_costs_nothing(
    cluster: Any, undisturbed: Path, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(undisturbed, tmp_path / "run")
    (tmp_path / "run" / BOXES_NAME).unlink()
    extra = cluster.add_node(num_cpus=2, object_store_memory=80 * 2**20, resources={"extra": 1})
    cluster.wait_for_nodes()
    steps = tmp_path / "steps"
    steps.mkdir()
    with connected(cluster.address):
        nodes = {node["NodeID"]: "extra" in node["Resources"] for node in ray.nodes() if node["Alive"]}
    (lost,) = (node for node, is_extra in nodes.items() if is_extra)

    def learn_slowly(job: Any) -> Any:
        """What a task does, with a trace of every look at the photos."""
        node, expect = ray.get_runtime_context().get_node_id(), Photos.expect

        def expect_slowly(*args: Any, **kwargs: Any) -> Any:
            with (steps / node).open("a") as trace:
                trace.write("step\n")
            time.sleep(0.3)
            return expect(*args, **kwargs)

        Photos.expect = expect_slowly  # type: ignore[method-assign]
        try:
            return LEARN(job)
        finally:
            Photos.expect = expect  # type: ignore[method-assign]

    def lose() -> None:
        wait_for_em(steps / lost)
        cluster.remove_node(extra, allow_graceful=False)

    monkeypatch.setattr(machines, "learn_by_paths", learn_slowly)
    loser = threading.Thread(target=lose, daemon=True)
    loser.start()
    with connected(cluster.address):
        for node in set(nodes) - {lost}:  # no core to spare until the one is in the middle of EM
            there = NodeAffinitySchedulingStrategy(node, soft=False)
            ray.remote(num_cpus=1, scheduling_strategy=there)(wait_for_em).remote(steps / lost)
        boxes = run_on(cluster.address, photos, tmp_path / "run")
    loser.join(timeout=1)
    assert not loser.is_alive(), "the machine was never in the middle of EM"
    assert len(list(steps.iterdir())) > 1, "somebody else has finished the work"
    assert boxes == (undisturbed / BOXES_NAME).read_bytes()


def test_a_driver_that_is_killed_and_started_again(
    cluster: Any, undisturbed: Path, photos: Path, tmp_path: Path
) -> None:
    words = ["localize", str(photos), "-o", str(tmp_path / "run"), "--cluster", cluster.address]
    command = [sys.executable, "-m", "tag2box", *words]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list((tmp_path / "run").glob(f"*/{SHARD_PATTERN}")):
        assert first.poll() is None
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / BOXES_NAME).read_bytes() == (undisturbed / BOXES_NAME).read_bytes()


def test_what_a_task_refuses_arrives_as_it_was_said(cluster: Any) -> None:
    def refuse(job: str) -> None:
        raise RunError(f"{job} is refused.", "another", "give another.")

    with pytest.raises(RunError, match="this is refused"):
        list(work_on_cluster(cluster.address, refuse, ["this"]))


def test_tasks_that_are_lost_again_and_again_end_with_an_error(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(job: str) -> None:
        import os

        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr("tag2box.cluster.working.RETRIES", 0)
    with pytest.raises(ClusterError, match="lost 1 times"):
        list(work_on_cluster(cluster.address, die, ["this"]))
