"""Boxes as tensors."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samples import random_boxes
from tag2box.boxes import box_overlaps
from tag2box.training.detector.regions import clipped, corrected, corrections, overlaps, paired_overlaps


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
