"""``tag2box studio`` as people start and end it."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from PIL import Image

from planted_extractor import planted_world
from tag2box.cli.studio import open_run
from tag2box.errors import InputError, TagsError
from tag2box.product.own_photos import keeps_own

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/enter\?token=[\w-]{43}$")


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tag2box", "studio", "-o", str(folder), *arguments, "--no-browser"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def status(address: str) -> int:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)


def test_it_says_where_it_is_takes_another_port_if_need_be_and_ends_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        studio = start(tmp_path / "own", "--port", str(port))
        assert studio.stdout is not None
        assert studio.stdout.readline().startswith(f"Port {port} is taken; this is ")
        address = studio.stdout.readline().strip()
    found = ADDRESS.fullmatch(address)
    assert found
    wait_for(int(found[1]))
    assert status(f"http://127.0.0.1:{found[1]}/state") == 401
    with urllib.request.urlopen(address, timeout=5) as welcome:
        cookie = welcome.headers["set-cookie"].split(";")[0]
    page = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=5)
    page.request("GET", "/events", headers={"cookie": cookie})
    assert page.getresponse().readline() == b"retry: 1000\n"  # a page that listens, also at the end
    second = start(tmp_path / "own")
    _, words = second.communicate(timeout=30)
    assert second.returncode == 2
    assert f"another process is at work on {tmp_path / 'own'}" in words
    began = time.monotonic()
    studio.send_signal(signal.SIGINT)
    _, words = studio.communicate(timeout=10)
    assert time.monotonic() - began < 2.0
    page.close()
    assert studio.returncode == 130
    assert words == "Stopped. What is done stays; the same command goes on from there.\n"
    assert (tmp_path / "own" / "run.json").is_file()


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos" / "mug"
    folder.mkdir(parents=True)
    for number in range(3):
        Image.new("RGB", (40, 30), (200, number, 0)).save(folder / f"{number}.png")
    return folder.parent


def test_photos_a_run_or_nothing(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = planted_world()
    monkeypatch.chdir(tmp_path)
    with open_run(photos, None, model) as run:
        assert run.folder == tmp_path / "photos.studio"
        assert [photo.name for photo in run.given.photos] == ["mug/0.png", "mug/1.png", "mug/2.png"]
    with open_run(photos, tmp_path / "elsewhere", model) as run:
        assert run.folder == tmp_path / "elsewhere"
        assert not keeps_own(run)
    with open_run(tmp_path / "elsewhere", None, model) as run:
        assert run.given.folder == photos
    with open_run(None, None, model) as run:
        assert keeps_own(run)
        assert os.path.samefile(run.folder, tmp_path / "tag2box-studio")
    with pytest.raises(InputError, match="is a run already"):
        open_run(tmp_path / "elsewhere", tmp_path / "other", model)
    with pytest.raises(TagsError, match="there is nothing at"):
        open_run(tmp_path / "nowhere", None, model)
