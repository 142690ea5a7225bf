"""RoIAlign as matrix products equals its definition."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from tag2box.training.detector.roi_align import SAMPLES, roi_align, roi_average

ROWS, COLUMNS, STRIDE = 5, 7, 16

edges = st.floats(-40.0, 150.0)
sides = st.one_of(st.just(0.0), st.floats(0.01, 1.0), st.floats(1.0, 130.0))
boxes_drawn = st.lists(
    st.tuples(edges, edges, sides, sides).map(lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])), min_size=1, max_size=4
)


def random_map(seed: int = 0) -> Tensor:
    return torch.randn(2, ROWS, COLUMNS, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def at_point(features: Tensor, x: float, y: float) -> Tensor:
    """Bilinear value (C,) at a place in cells; beyond the centres of the outermost cells nothing changes."""
    x, y = min(max(x, 0.0), COLUMNS - 1.0), min(max(y, 0.0), ROWS - 1.0)
    left, top = min(math.floor(x), COLUMNS - 2), min(math.floor(y), ROWS - 2)
    over, down = x - left, y - top
    upper = features[:, top, left] * (1 - over) + features[:, top, left + 1] * over
    lower = features[:, top + 1, left] * (1 - over) + features[:, top + 1, left + 1] * over
    return upper * (1 - down) + lower * down


def by_definition(features: Tensor, box: tuple[float, float, float, float], bins: int) -> Tensor:
    """Mean of the samples in each bin, one at a time."""
    x0, y0, x1, y1 = (float(edge) for edge in box)
    result = torch.zeros(len(features), bins, bins, dtype=features.dtype)
    for row in range(bins * SAMPLES):
        for column in range(bins * SAMPLES):
            x = (x0 + (x1 - x0) * (column + 0.5) / (bins * SAMPLES)) / STRIDE - 0.5
            y = (y0 + (y1 - y0) * (row + 0.5) / (bins * SAMPLES)) / STRIDE - 0.5
            result[:, row // SAMPLES, column // SAMPLES] += at_point(features, x, y) / SAMPLES**2
    return result


@given(boxes_drawn, st.integers(1, 3))
def test_it_equals_its_definition(drawn: list[tuple[float, float, float, float]], bins: int) -> None:
    features, boxes = random_map(), torch.tensor(drawn, dtype=torch.float64)
    expected = torch.stack([by_definition(features, box, bins) for box in drawn])
    torch.testing.assert_close(roi_align(features, boxes, bins, STRIDE), expected, atol=1e-9, rtol=1e-9)


@given(boxes_drawn, st.integers(1, 7))
def test_the_average_is_the_mean_over_the_bins(drawn: list[tuple[float, float, float, float]], bins: int) -> None:
    features, boxes = random_map(1), torch.tensor(drawn, dtype=torch.float64)
    expected = roi_align(features, boxes, bins, STRIDE).mean((2, 3))
    torch.testing.assert_close(roi_average(features, boxes, STRIDE, bins), expected, atol=1e-9, rtol=1e-9)


def test_it_equals_grid_sample_and_so_does_its_gradient() -> None:
    boxes = torch.tensor([[0.0, 0.0, 112.0, 80.0], [3.0, 5.0, 50.0, 77.0], [100.0, 70.0, 112.0, 80.0], [8, 8, 9, 9]])
    bins, size = 7, 7 * SAMPLES
    places = (torch.arange(size) + 0.5) / size
    x = boxes[:, :1] + (boxes[:, 2:3] - boxes[:, :1]) * places  # (n, samples)
    y = boxes[:, 1:2] + (boxes[:, 3:] - boxes[:, 1:2]) * places
    grid = torch.stack(
        [
            (2 * x / (COLUMNS * STRIDE) - 1)[:, None].expand(-1, size, -1),
            (2 * y / (ROWS * STRIDE) - 1)[:, :, None].expand(-1, -1, size),
        ],
        dim=-1,
    )
    gradients = []
    for way in ("grid_sample", "roi_align"):
        features = random_map(2).float().requires_grad_()
        if way == "grid_sample":
            repeated = features.expand(len(boxes), -1, -1, -1)
            sampled = functional.grid_sample(repeated, grid, padding_mode="border", align_corners=False)
            binned = functional.avg_pool2d(sampled, SAMPLES)
        else:
            binned = roi_align(features, boxes, bins, STRIDE)
        (binned**2).sum().backward()  # type: ignore[no-untyped-call]
        assert features.grad is not None
        gradients.append((binned.detach(), features.grad))
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-4, rtol=1e-4)


def test_by_hand() -> None:
    """A ramp of 0, 1, 2, … along x: the average under a box is the place of its centre."""
    ramp = torch.arange(COLUMNS).float().expand(1, ROWS, COLUMNS)
    boxes = torch.tensor([[16.0, 16.0, 48.0, 48.0], [24.0, 0.0, 24.0, 0.0], [0.0, 0.0, 8.0, 80.0]])
    averages = roi_average(ramp, boxes, STRIDE, 1)[:, 0]
    assert averages.tolist() == pytest.approx([1.5, 1.0, 0.0])  # 32 px and 24 px in; then left of the first centre
    assert roi_align(ramp, boxes[:0], 7, STRIDE).shape == (0, 1, 7, 7)
    assert roi_average(ramp, boxes[:0], STRIDE, 7).shape == (0, 1)
