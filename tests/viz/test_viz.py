"""The picture of EM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from tag2box.viz import EmReplay, draw_em, save_figure


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
