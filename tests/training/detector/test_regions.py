"""Regions as tensors, and RoIAlign as matrix products, against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from samples import random_boxes
from tag2box.boxes import box_overlaps
from tag2box.extract.averages import SAMPLES
from tag2box.training.detector.regions import (
    clipped,
    corrected,
    corrections,
    overlaps,
    paired_overlaps,
    roi_align,
    roi_average,
)

ROWS, COLUMNS, STRIDE = 5, 7, 16

edges = st.floats(-40.0, 150.0)
sides = st.one_of(st.just(0.0), st.floats(0.01, 1.0), st.floats(1.0, 130.0))
boxes_drawn = st.lists(
    st.tuples(edges, edges, sides, sides).map(lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])), min_size=1, max_size=4
)


@given(st.integers(0, 2**32 - 1), st.integers(0, 5), st.integers(0, 5))
def test_overlaps_equal_those_of_the_core(seed: int, count: int, others: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = random_boxes(rng, count), random_boxes(rng, others)
    ours = overlaps(torch.from_numpy(first), torch.from_numpy(second))
    np.testing.assert_allclose(ours.numpy(), box_overlaps(first, second), atol=1e-9)
    paired, _ = paired_overlaps(torch.from_numpy(first), torch.from_numpy(first[::-1].copy()))
    np.testing.assert_allclose(paired.numpy(), np.diag(box_overlaps(first, first[::-1])), atol=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(0, 6))
def test_a_correction_does_what_it_says(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    grown = np.array([0.0, 0.0, 20.0, 20.0])
    boxes, targets = (torch.from_numpy(random_boxes(rng, count) + grown) for _ in range(2))
    np.testing.assert_allclose(corrected(boxes, corrections(boxes, targets)), targets, atol=1e-9)
    np.testing.assert_allclose(corrected(boxes, torch.zeros(count, 4)), boxes, atol=1e-9)


def test_corrections_by_hand() -> None:
    """A tenth of the box to the right is 1; a box e times as high is 5."""
    box = torch.tensor([[0.0, 0.0, 20.0, 10.0]])
    higher = 10.0 * float(np.e)
    target = torch.tensor([[2.0, 5.0 - higher / 2, 22.0, 5.0 + higher / 2]])
    np.testing.assert_allclose(corrections(box, target), [[1.0, 0.0, 0.0, 5.0]], atol=1e-5)
    wild = corrected(box, torch.tensor([[0.0, 0.0, 1e6, -1e6]]))[0]
    assert (wild[2] - wild[0]).item() == pytest.approx(20.0 * np.e**2, rel=1e-5)
    assert (wild[3] - wild[1]).item() == pytest.approx(10.0 / np.e**2, rel=1e-5)


@pytest.mark.parametrize(
    ("other", "overlap", "generalised"),
    [
        ([0.0, 0.0, 10.0, 10.0], 1.0, 1.0),
        ([0.0, 0.0, 5.0, 5.0], 0.25, 0.25),  # nested: the hull is the union
        ([20.0, 0.0, 30.0, 10.0], 0.0, -1 / 3),  # apart: a third of the hull is empty
        ([5.0, 5.0, 15.0, 15.0], 25 / 175, 25 / 175 - 50 / 225),
        ([10.0, 0.0, 20.0, 10.0], 0.0, 0.0),  # touching: no overlap, and nothing between
    ],
)
def test_generalised_overlaps_by_hand(other: list[float], overlap: float, generalised: float) -> None:
    plain, general = paired_overlaps(torch.tensor([[0.0, 0.0, 10.0, 10.0]]), torch.tensor([other]))
    assert plain.item() == pytest.approx(overlap)
    assert general.item() == pytest.approx(generalised)


def test_boxes_apart_still_have_a_slope() -> None:
    box = torch.tensor([[20.0, 0.0, 30.0, 10.0]], requires_grad=True)
    _, general = paired_overlaps(box, torch.tensor([[0.0, 0.0, 10.0, 10.0]]))
    general.sum().backward()  # type: ignore[no-untyped-call]
    assert box.grad is not None
    assert box.grad[0, 0] < 0  # a left edge further left is better


@given(st.integers(0, 2**32 - 1))
def test_clipped_boxes_are_inside_and_not_too_small(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = torch.from_numpy(random_boxes(rng, 8, side=200.0) - 60.0)
    inside = clipped(boxes, 50.0, 80.0, 4.0)
    assert (inside[:, :2] >= 0).all()
    assert (inside[:, 2] <= 80.0).all()
    assert (inside[:, 3] <= 50.0).all()
    assert (inside[:, 2:] - inside[:, :2] >= 4.0 - 1e-9).all()
    np.testing.assert_allclose(clipped(inside, 50.0, 80.0, 4.0), inside, atol=1e-9)


def test_clipping_by_hand() -> None:
    boxes = torch.tensor([[-5.0, 3.0, 20.0, 90.0], [10.0, 10.0, 11.0, 30.0], [200.0, 200.0, 300.0, 300.0]])
    wanted = [[0.0, 3.0, 20.0, 50.0], [10.0, 10.0, 14.0, 30.0], [76.0, 46.0, 80.0, 50.0]]
    assert clipped(boxes, 50.0, 80.0, 4.0).tolist() == wanted


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
def test_roi_align_equals_its_definition(drawn: list[tuple[float, float, float, float]], bins: int) -> None:
    features, boxes = random_map(), torch.tensor(drawn, dtype=torch.float64)
    expected = torch.stack([by_definition(features, box, bins) for box in drawn])
    torch.testing.assert_close(roi_align(features, boxes, bins, STRIDE), expected, atol=1e-9, rtol=1e-9)


@given(boxes_drawn, st.integers(1, 7))
def test_the_average_is_the_mean_over_the_bins(drawn: list[tuple[float, float, float, float]], bins: int) -> None:
    features, boxes = random_map(1), torch.tensor(drawn, dtype=torch.float64)
    expected = roi_align(features, boxes, bins, STRIDE).mean((2, 3))
    torch.testing.assert_close(roi_average(features, boxes, STRIDE, bins), expected, atol=1e-9, rtol=1e-9)


def test_roi_align_equals_grid_sample_and_so_does_its_gradient() -> None:
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


def test_roi_averages_by_hand() -> None:
    """A ramp of 0, 1, 2, … along x: the average under a box is the place of its centre."""
    ramp = torch.arange(COLUMNS).float().expand(1, ROWS, COLUMNS)
    boxes = torch.tensor([[16.0, 16.0, 48.0, 48.0], [24.0, 0.0, 24.0, 0.0], [0.0, 0.0, 8.0, 80.0]])
    averages = roi_average(ramp, boxes, STRIDE, 1)[:, 0]
    assert averages.tolist() == pytest.approx([1.5, 1.0, 0.0])  # 32 px and 24 px in; then left of the first centre
    assert roi_align(ramp, boxes[:0], 7, STRIDE).shape == (0, 1, 7, 7)
    assert roi_average(ramp, boxes[:0], STRIDE, 7).shape == (0, 1)
