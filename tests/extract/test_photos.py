"""Every kind of picture becomes upright 8-bit RGB, and every broken file is named."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tag2box.errors import PhotoError, ShapeError
from tag2box.extract import load_photo

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def halves(width: int = 60, height: int = 40) -> Image.Image:
    """Red on the left, blue on the right."""
    picture = Image.new("RGB", (width, height), RED)
    picture.paste(BLUE, (width // 2, 0, width, height))
    return picture


def save(folder: Path, picture: Image.Image, name: str = "photo.png", **options: object) -> Path:
    path = folder / name
    picture.save(path, **options)  # type: ignore[arg-type]
    return path


def test_the_longest_side_is_scaled_and_the_full_size_kept(tmp_path: Path) -> None:
    path = save(tmp_path, halves(60, 40))
    photo = load_photo(path, 30)
    assert photo.pixels.shape == (20, 30, 3)
    assert (photo.height, photo.width) == (40, 60)
    assert photo.pixels[10, 2].tolist() == list(RED)
    assert photo.pixels[10, -3].tolist() == list(BLUE)
    assert photo.source_hash == hashlib.sha256(path.read_bytes()).hexdigest()
    assert load_photo(path, 120).pixels.shape == (80, 120, 3)


def test_views_are_the_picture_at_each_size(tmp_path: Path) -> None:
    halves(300, 200).save(tmp_path / "photo.png")
    photo = load_photo(tmp_path / "photo.png", 60, 90)
    for view, side in zip(photo.views, (60, 90), strict=True):
        np.testing.assert_array_equal(view, load_photo(tmp_path / "photo.png", side).pixels)
    np.testing.assert_array_equal(photo.pixels, photo.views[0])


@pytest.mark.parametrize("orientation", range(1, 9))
def test_cameras_orientation_is_applied(tmp_path: Path, orientation: int) -> None:
    """All eight marks: a picture stored turned or mirrored comes out as it was seen."""
    seen = np.zeros((40, 60, 3), np.uint8)
    seen[:20, :30], seen[:20, 30:], seen[20:, :30] = RED, GREEN, BLUE
    undo = {1: None, 2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}[orientation]  # PIL.Image.Transpose that stores it
    stored = Image.fromarray(seen) if undo is None else Image.fromarray(seen).transpose(Image.Transpose(undo))
    exif = Image.Exif()
    exif[0x0112] = orientation
    photo = load_photo(save(tmp_path, stored, "photo.jpg", exif=exif, quality=95), 60)
    assert (photo.height, photo.width) == (40, 60)
    np.testing.assert_allclose(photo.pixels[[5, 5, 35, 35], [5, 55, 5, 55]], [RED, GREEN, BLUE, (0, 0, 0)], atol=12)


@pytest.mark.parametrize("mode", ["1", "L", "P", "CMYK", "YCbCr", "RGBA", "LA", "PA"])
def test_every_mode_becomes_rgb(tmp_path: Path, mode: str) -> None:
    name = "photo.tif" if mode in {"CMYK", "YCbCr"} else "photo.gif" if mode == "PA" else "photo.png"
    picture = halves().convert("RGB").convert("P" if mode == "PA" else mode)
    photo = load_photo(save(tmp_path, picture, name), 60)
    assert photo.pixels.shape == (40, 60, 3)
    assert photo.pixels.dtype == np.uint8
    assert (photo.pixels[:, 5] != photo.pixels[:, 55]).any()


def test_transparent_pictures_lie_on_white_paper(tmp_path: Path) -> None:
    picture = halves().convert("RGBA")
    picture.putalpha(Image.new("L", picture.size, 0))
    assert (load_photo(save(tmp_path, picture), 60).pixels == 255).all()


def test_16_bit_greys_keep_their_brightness(tmp_path: Path) -> None:
    values = np.full((40, 60), 32768, np.uint16)
    photo = load_photo(save(tmp_path, Image.fromarray(values)), 60)
    assert (photo.pixels == 128).all()


def test_floating_point_greys_use_their_range(tmp_path: Path) -> None:
    values = np.tile(np.linspace(-3.0, 5.0, 60, dtype=np.float32), (40, 1))
    photo = load_photo(save(tmp_path, Image.fromarray(values), "photo.tif"), 60)
    assert photo.pixels[0, 0].tolist() == [0, 0, 0]
    assert photo.pixels[0, -1].tolist() == [255, 255, 255]
    flat = load_photo(save(tmp_path, Image.fromarray(np.ones((4, 4), np.float32)), "flat.tif"), 4)
    assert (flat.pixels == 0).all()


@pytest.mark.parametrize(
    ("size", "shape"), [((1, 1), (320, 320, 3)), ((30_000, 3), (1, 320, 3)), ((2, 900), (320, 1, 3))]
)
def test_tiny_and_long_pictures(tmp_path: Path, size: tuple[int, int], shape: tuple[int, ...]) -> None:
    photo = load_photo(save(tmp_path, Image.new("RGB", size, GREEN)), 320)
    assert photo.pixels.shape == shape
    assert (photo.width, photo.height) == size


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_hundred_megapixels(tmp_path: Path) -> None:
    path = save(tmp_path, Image.new("L", (12_000, 9_000), 77), "huge.jpg", quality=30)
    photo = load_photo(path, 320)
    assert photo.pixels.shape == (240, 320, 3)
    assert (photo.height, photo.width) == (9_000, 12_000)
    assert abs(int(photo.pixels.mean()) - 77) <= 2


FOUR_THREADS = """
import sys, warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import numpy
from PIL import Image
Image.MAX_IMAGE_PIXELS = 2000
sys.setswitchinterval(1e-5)
warnings.filterwarnings("always", message="mine")
mine = list(warnings.filters)
from tag2box.extract import load_photo
before = list(warnings.filters)
with ThreadPoolExecutor(4) as pool:
    sizes = [photo.width for photo in pool.map(lambda _: load_photo(Path(sys.argv[1]), 64), range(400))]
assert sizes == [60] * 400, sizes
assert warnings.filters == before, warnings.filters
assert before[: len(mine)] == mine, before
warnings.warn("mine")
"""
"""Pillow warns about photos of more than 2,000 pixels here."""


def test_threads_that_load_photos_leave_the_filters_of_warnings_alone(tmp_path: Path) -> None:
    """Nobody hears what Pillow thinks of large photos, and whoever has filters of his own keeps them."""
    command = [sys.executable, "-c", FOUR_THREADS, str(save(tmp_path, halves(60, 40)))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Warning") == 1, done.stderr  # mine


def test_the_first_frame_of_an_animation_counts(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in (RED, BLUE)]
    path = save(tmp_path, frames[0], "moving.gif", save_all=True, append_images=frames[1:])
    assert load_photo(path, 8).pixels[0, 0].tolist() == list(RED)


@pytest.mark.parametrize("name", ["with space.png", "quo'te\".png", "emoji 🦝.png", "new\nline.png", "x.unknown"])
def test_names_do_not_matter(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    halves().save(path, format="PNG")
    assert load_photo(path, 60).pixels.shape == (40, 60, 3)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", r"it is empty \(0 bytes\)"),
        (b"hello, world", "not a picture"),
        (b"\x89PNG\r\n\x1a\n", "not a picture"),
        (b"\xff\xd8\xff\xe0", "not a picture"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "broken.jpg"
    path.write_bytes(content)
    with pytest.raises(PhotoError, match=rf"broken\.jpg cannot be read: .*{reason}"):
        load_photo(path, 320)


@pytest.mark.parametrize("name", ["photo.jpg", "photo.png", "photo.webp"])
def test_truncated_files_are_named(tmp_path: Path, name: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, size=(64, 64, 3), dtype=np.uint8)
    path = save(tmp_path, Image.fromarray(noise), name)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(PhotoError, match=f"{name} cannot be read"):
        load_photo(path, 320)


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(PhotoError, match=r"nowhere\.jpg cannot be read: No such file"):
        load_photo(tmp_path / "nowhere.jpg", 320)
    with pytest.raises(PhotoError, match="Is a directory"):
        load_photo(tmp_path, 320)
    with pytest.raises(ShapeError, match="longest side is 0"):
        load_photo(tmp_path, 0)


def test_mutated_files_are_read_or_named_but_never_crash(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    noise = Image.fromarray(rng.integers(0, 256, size=(32, 32, 3), dtype=np.uint8))
    for name in ("a.jpg", "a.png", "a.webp", "a.gif", "a.bmp", "a.tif"):
        path = save(tmp_path, noise, name)
        sound = path.read_bytes()
        for _ in range(60):
            content = bytearray(sound)
            for place in rng.integers(0, len(content), size=3):
                content[place] = int(rng.integers(256))
            path.write_bytes(content)
            try:
                assert load_photo(path, 16).pixels.ndim == 3
            except PhotoError:
                continue
