"""Pictures: EM, losses, pages and sheets of photos."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from PIL import Image

from tag2box.viz import (
    RIGHT,
    DrawnBox,
    EmReplay,
    PagePhoto,
    PageSection,
    draw_em,
    draw_losses,
    draw_sheet,
    save_figure,
    write_page,
)


def replay(steps: int) -> EmReplay:
    rng = np.random.default_rng(0)
    return EmReplay(
        likeness=[rng.uniform(size=12) for _ in range(steps)],
        weights=[np.full(12, 0.25) for _ in range(steps)],
        likelihoods=np.arange(float(steps)).tolist(),
        background=rng.uniform(size=12),
        images=np.repeat(np.arange(3), 4),
        right=np.arange(12) % 4 == 1,
    )


@pytest.mark.parametrize(("steps", "panels"), [(1, 1), (2, 2), (3, 3), (9, 4)])
def test_at_most_four_steps_are_shown_and_the_last_always_is(steps: int, panels: int) -> None:
    figure = draw_em(replay(steps), "a title")
    titles = [axes.get_title() for axes in figure.axes]
    assert len(figure.axes) == panels + 1
    assert titles[panels - 1] == f"step {steps - 1}: 25% of the weight is right"


def test_pictures_are_real_files(tmp_path: Path) -> None:
    figure = draw_em(replay(3), "a title")
    save_figure(figure, tmp_path / "em.png")
    save_figure(figure, tmp_path / "em.svg")
    assert imread(tmp_path / "em.png").shape[1] > 1000
    assert "<svg" in (tmp_path / "em.svg").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["em.png", "em.svg"]


def navy(path: Path, longest: int) -> np.ndarray:
    """A stand-in for opening photos: all are 4 to 3."""
    return np.full((round(longest * 0.75), longest, 3), (0, 0, 128), dtype=np.uint8)


def page_photo(folder: Path) -> PagePhoto:
    box = np.array([4, 5, 20, 25], dtype=np.float32)
    return PagePhoto(folder / "photo.jpg", 30, 40, (DrawnBox(box, "a <b> & c", RIGHT),), "words & <more>")


def test_the_same_figure_gives_the_same_file(tmp_path: Path) -> None:
    """Otherwise every report would look changed."""
    for ending in (".svg", ".png"):
        for name in ("one", "two"):
            save_figure(draw_em(replay(2), title="EM"), tmp_path / f"{name}{ending}")
        assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()


def test_a_page_shows_photos_with_their_boxes_and_escapes_words(tmp_path: Path) -> None:
    section = PageSection("cats & <dogs>", "two", [page_photo(tmp_path)])
    write_page(tmp_path / "page.html", "A <title>", "some words", [section], navy)
    page = (tmp_path / "page.html").read_text()
    assert "<title>A &lt;title&gt;</title>" in page
    assert "cats &amp; &lt;dogs&gt;" in page
    assert "a &lt;b&gt; &amp; c" in page
    assert "<rect x='42.0' y='52.5' width='168.0' height='210.0'" in page  # 420 pixels for 40
    encoded = page.split("base64,")[1].split("'")[0]
    assert Image.open(io.BytesIO(base64.b64decode(encoded))).size == (420, 315)


def test_a_sheet_has_a_tile_for_every_photo(tmp_path: Path) -> None:
    draw_sheet(tmp_path / "sheet.png", [page_photo(tmp_path)] * 3, navy, columns=2)
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    assert sheet.shape == (2 * 165 + 18, 2 * 220 + 18, 3)
    blue = (sheet[..., 2] > 100) & (sheet[..., 0] < 40) & (sheet[..., 1] < 40)
    assert blue[80, 110]
    assert blue[80, 350]
    assert not blue[260, 350]


def test_losses_become_a_picture_even_of_a_run_that_has_none(tmp_path: Path) -> None:
    draw_losses(tmp_path / "losses.png", [{"step": n, "seconds": n, "total": 5.0 / (n + 1)} for n in range(80)])
    draw_losses(tmp_path / "none.png", [])
    assert (tmp_path / "losses.png").stat().st_size > (tmp_path / "none.png").stat().st_size > 0
