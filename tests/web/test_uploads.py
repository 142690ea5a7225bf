"""Photos that are given on the page: what is none is refused, and nothing breaks."""

from __future__ import annotations

import io
import signal
import struct
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from planted_studio import RED, open_planted, picture, settle
from tag2box.errors import PhotoError
from tag2box.web import uploads
from tag2box.web.child import Child, inspect, shown
from tag2box.web.studio import Studio


def png(number: int = 0) -> bytes:
    content = io.BytesIO()
    picture(number, q0=RED).save(content, "PNG")
    return content.getvalue()


def bomb(side: int) -> bytes:
    """A PNG of a few kilobytes that wants to be side × side pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = zlib.compress(bytes(side // 8 + 1) * side, 9)
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_photos_are_dropped_tagged_and_found(empty_client: TestClient, empty: Studio, tmp_path: Path) -> None:
    for number in range(3):
        answer = empty_client.put(f"/photos/IMG {number}.png?tags=mug", content=png(number))
        assert answer.status_code == 200, answer.text
    assert empty_client.put("/photos/again.png?tags=mug", content=png(0)).status_code == 200  # the same photo
    assert empty_client.post("/find", json={}).status_code == 200
    settle(empty)
    seen = empty_client.get("/state").json()
    assert sorted(one["name"] for one in seen["photos"]) == ["IMG 0.png", "IMG 1.png", "IMG 2.png"]
    assert all(one["boxes"][0]["box"] == [0.0, 0.0, 40.0, 30.0] for one in seen["photos"])
    files = sorted(path.name for path in (empty.run.folder / "photos").iterdir())
    assert len(files) == 3
    assert all(len(name) == 36 and name.endswith(".png") for name in files)  # of the request's name nothing is left
    empty.close()
    again = open_planted(None, tmp_path / "own")
    assert {one["name"] for one in again.snapshot.photos.values()} == {"IMG 0.png", "IMG 1.png", "IMG 2.png"}
    again.close()


def test_a_photo_that_is_given_again_gets_the_new_tag(empty_client: TestClient, empty: Studio) -> None:
    for tag in ("mug", "pen", "pen"):
        assert empty_client.put(f"/photos/a.png?tags={tag}", content=png()).status_code == 200
    (photo,) = empty_client.get("/state").json()["photos"]
    assert photo["tags"] == ["mug", "pen"]
    assert len(empty.run.journal.said()) == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"no picture at all", "cannot"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', "SVG"),
        (b'<?xml version="1.0"?><svg/>', "SVG"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "cannot"),
        (b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00", "HEIC"),
        (png()[:60], "cannot"),
        (bomb(12_000), "cannot"),
    ],
    ids=["empty", "text", "svg", "xml", "eps", "heic", "half", "bomb"],
)
def test_what_is_no_photo_is_refused_and_leaves_nothing(
    empty_client: TestClient, empty: Studio, content: bytes, reason: str
) -> None:
    answer = empty_client.put("/photos/x.png?tags=mug", content=content)
    assert answer.status_code == 400
    assert reason in answer.json()["error"]
    assert not [path for path in empty.run.folder.rglob("*") if path.suffix in {".part", ".png"}]
    assert empty.run.given.photos == ()
    assert empty_client.put("/photos/x.png?tags=mug", content=png()).status_code == 200  # the next one is welcome


def test_a_bomb_is_small_on_the_wire() -> None:
    assert len(bomb(12_000)) < 30_000


@pytest.mark.parametrize("name", ["..%2f..%2fx.png", "%2e%2e", "%00.png", "a%5cb.png", "%3Cscript%3E.png", "é" * 150])
def test_names_are_labels_and_no_files(empty_client: TestClient, empty: Studio, name: str) -> None:
    answer = empty_client.put(f"/photos/{name}?tags=mug", content=png())
    assert answer.status_code in {200, 404}
    for path in empty.run.folder.rglob("*.png"):
        assert path.parent == empty.run.given.folder
        assert len(path.name) == 36


def test_too_large_and_too_many(empty_client: TestClient, empty: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tag2box.web.app.MOST_BYTES", 1000)
    assert empty_client.put("/photos/a.png?tags=mug", content=bytes(1001)).status_code == 413
    assert empty_client.put("/detect", content=bytes(1001)).status_code == 413
    monkeypatch.setattr(uploads, "MOST_PHOTOS", 1)
    assert empty_client.put("/photos/a.png?tags=mug", content=png(0)).status_code == 200
    refused = empty_client.put("/photos/b.png?tags=mug", content=png(1))
    assert refused.status_code == 400
    assert "the run has 1 photos" in refused.json()["error"]
    assert len(empty.run.given.photos) == 1


def test_a_run_on_other_photos_takes_none(client: TestClient, studio: Studio) -> None:
    answer = client.put("/photos/a.png?tags=mug", content=png())
    assert answer.status_code == 400
    assert "about the photos in 'photos'" in answer.json()["error"]
    assert not client.get("/state").json()["may_add"]


def test_nothing_to_find_is_said(empty_client: TestClient, empty: Studio) -> None:
    assert empty_client.put("/photos/a.png?tags=mug", content=png()).status_code == 200
    empty_client.post("/find", json={})
    settle(empty)
    assert "no tag has two photos" in empty_client.get("/state").json()["trouble"]
    assert empty_client.put("/photos/b.png?tags=%00", content=png(1)).status_code == 400
    assert empty_client.put("/detect", content=png()).status_code == 400


def test_a_decoder_that_dies_hangs_or_eats_all_memory_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png())
    child = Child(memory=300_000_000, patience=5.0)
    try:
        with pytest.raises(PhotoError, match="broke down"):
            child.ask(signal.raise_signal, signal.SIGKILL)
        assert child.ask(inspect, path) == ("PNG", 60, 80)
        with pytest.raises(PhotoError, match="longer than 5 s"):
            child.ask(time.sleep, 60.0)
        with pytest.raises(PhotoError, match="MemoryError"):
            child.ask(bytearray, 800_000_000)
        assert len(child.ask(bytearray, 1000)) == 1000  # the child lives on
    finally:
        child.close()


def test_what_is_shown_is_upright_small_and_has_no_metadata(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6  # on its side
    exif[0x010E] = "where I live"
    Image.new("RGB", (900, 600), RED).save(path, exif=exif)
    content = shown(path, 240)
    made = Image.open(io.BytesIO(content))
    assert made.size == (160, 240)
    assert b"where I live" not in content
    assert not made.getexif()


def test_who_waits_for_a_decoder_is_let_go_when_the_studio_ends() -> None:
    child = Child(patience=60.0)
    assert child.ask(abs, -1) == 1
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(child.ask, time.sleep, 60.0)
        time.sleep(0.2)
        began = time.monotonic()
        child.close()
        with pytest.raises(PhotoError, match="broke down"):
            waiting.result(5)
        assert time.monotonic() - began < 2.0
    with pytest.raises(PhotoError):
        child.ask(abs, -1)
