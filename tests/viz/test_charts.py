"""Charts: EM, losses, and their files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from tag2box.viz import EmReplay, draw_em, draw_losses, save_figure


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


def test_the_same_figure_gives_the_same_file(tmp_path: Path) -> None:
    """Otherwise every report would look changed."""
    for ending in (".svg", ".png"):
        for name in ("one", "two"):
            save_figure(draw_em(replay(2), title="EM"), tmp_path / f"{name}{ending}")
        assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()


def test_losses_become_a_picture_even_of_a_run_that_has_none(tmp_path: Path) -> None:
    draw_losses(tmp_path / "losses.png", [{"step": n, "seconds": n, "total": 5.0 / (n + 1)} for n in range(80)])
    draw_losses(tmp_path / "none.png", [])
    assert (tmp_path / "losses.png").stat().st_size > (tmp_path / "none.png").stat().st_size > 0
