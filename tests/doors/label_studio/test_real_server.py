"""The doors into Label Studio against a real server, of which ``make labelstudio`` installs one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from PIL import Image

from fake_label_studio import CONFIG, LEGACY
from planted_extractor import planted_world
from tag2box.data import read_tags
from tag2box.doors.label_studio import Backend, LabelStudio, backend_server, push
from tag2box.product.corrections import Shows
from tag2box.product.run import Run

COMMAND = os.environ.get("TAG2BOX_LABEL_STUDIO", "")
PATIENCE = 300.0
"""Seconds until a server that was never started before is up."""
pytestmark = pytest.mark.skipif(not COMMAND, reason="TAG2BOX_LABEL_STUDIO is not set: make labelstudio sets it")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with one user, old tokens, and backends on its own machine."""
    os.environ["no_proxy"] = "127.0.0.1"
    folder, port = tmp_path_factory.mktemp("label-studio"), free_port()
    settings = {"BASE_DATA_DIR": str(folder), "USERNAME": "a@example.com", "PASSWORD": "Passw0rd-x"}
    settings |= {"USER_TOKEN": LEGACY, "ENABLE_LEGACY_API_TOKEN": "true", "COLLECT_ANALYTICS": "0"}
    settings |= {"ML_BLOCK_LOCAL_IP": "false", "SSRF_PROTECTION_ENABLED": "false"}
    environment = {**os.environ, **{f"LABEL_STUDIO_{name}": value for name, value in settings.items()}}
    environment.pop("PYTHONPATH", None)
    command = [COMMAND, "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        try:
            with urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail("the server did not start")


def ask(method: str, address: str, body: Any = None, kind: str = "application/json") -> Any:
    content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Token {LEGACY}", "Content-Type": kind}
    with urlopen(Request(address, content, headers, method=method), timeout=120) as answer:
        return json.loads(answer.read() or b"null")


def upload(url: str, project: int, photo: Path) -> None:
    """Bring a photo into a project, as a person does with the mouse."""
    mark = uuid.uuid4().hex
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{photo.name}"\r\n'
    body = f"{head}Content-Type: image/png\r\n\r\n".encode() + photo.read_bytes() + f"\r\n--{mark}--\r\n".encode()
    ask("POST", f"{url}/api/projects/{project}/import", body, f"multipart/form-data; boundary={mark}")


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Photos that all have a red and a green quarter, tagged with one word."""
    folder = tmp_path / "photos" / "red"
    folder.mkdir(parents=True)
    for number in range(4):
        picture = Image.new("RGB", (80, 60), (20, 20, 20 + number))
        picture.paste((250, 0, 0), (0, 0, 40, 30))
        picture.paste((0, 250, 0), (40, 30, 80, 60))
        picture.save(folder / f"photo {number}.png")
    model, _ = planted_world()
    with Run.begin(tmp_path / "run", read_tags(tmp_path / "photos"), model) as run:
        run.extract()
        run.localize()
        yield run


@pytest.fixture
def project(url: str, run: Run) -> int:
    """A project with the photos of the run."""
    made = ask("POST", f"{url}/api/projects/", {"title": "Things", "label_config": CONFIG})
    for photo in run.given.photos:
        upload(url, made["id"], photo.path)
    return int(made["id"])


def predictions(url: str, project: int) -> dict[tuple[int, str], list[Any]]:
    """Task and version → regions."""
    found = ask("GET", f"{url}/api/predictions/?project={project}")
    return {(one["task"], one["model_version"]): one["result"] for one in found}


def test_boxes_are_pushed_once(url: str, project: int, run: Run) -> None:
    server = LabelStudio(url, LEGACY)
    assert push(run.labelled(), server, project) == (4, 0, 0, 0, 0)
    assert push(run.labelled(), server, project) == (0, 4, 0, 0, 0)
    found = predictions(url, project)
    assert len(found) == 4
    assert {region["from_name"] for regions in found.values() for region in regions} == {"things"}


def test_a_box_that_is_drawn_in_label_studio_moves_the_others(url: str, project: int, run: Run) -> None:
    with Backend(run) as backend, backend_server(backend, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_address[1]}"
            assert ask("POST", f"{url}/api/ml/", {"url": address, "project": project})["state"] == "CO"
            fetch(url, project)
            before = predictions(url, project)
            (place,) = {tuple(region["value"][side] for side in "xy") for one in before.values() for region in one}
            first = min(task for task, _ in before)
            draw(url, first, 50.0 - place[0], 50.0 - place[1])
            until_heard(run)
            fetch(url, project)
            after = {key: regions for key, regions in predictions(url, project).items() if key not in before}
        finally:
            server.shutdown()
            thread.join()
    assert len(after) == 4
    moved = {tuple(region["value"][side] for side in "xy") for one in after.values() for region in one}
    assert moved == {(50.0 - place[0], 50.0 - place[1])}


def fetch(url: str, project: int) -> None:
    """Let the server ask for the boxes of all tasks."""
    action = f"{url}/api/dm/actions/?id=retrieve_tasks_predictions&project={project}"
    ask("POST", action, {"selectedItems": {"all": True, "excluded": []}})


def draw(url: str, task: int, x: float, y: float) -> None:
    value = {"x": x, "y": y, "width": 50, "height": 50, "rotation": 0, "rectanglelabels": ["red"]}
    names = {"id": "r1", "from_name": "things", "to_name": "photo", "type": "rectanglelabels"}
    size = {"original_width": 80, "original_height": 60}
    ask("POST", f"{url}/api/tasks/{task}/annotations/", {"result": [{**names, **size, "value": value}]})


def until_heard(run: Run) -> None:
    end = time.monotonic() + 30.0
    while time.monotonic() < end and not run.journal.said():
        time.sleep(0.1)
    (said,) = run.journal.said()
    assert isinstance(said.what, Shows)
