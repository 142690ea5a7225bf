"""Averages of maps under boxes: by hand, by the definition, and as a network that learns computes them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tag2box.extract.averages import BINS, cell_weights, core_of, map_averages, with_core
from tag2box.training.detector.regions import roi_average


def some_boxes(rng: np.random.Generator, count: int, size: float) -> np.ndarray:
    corners = np.sort(rng.uniform(-5.0, size + 5.0, size=(count, 2, 2)), axis=1)  # some reach beyond the map
    return corners.reshape(count, 4).astype(np.float32)


@given(st.integers(0, 10**6), st.sampled_from([8, 16, 32]), st.integers(1, 9), st.integers(1, 9), st.integers(0, 6))
def test_they_are_what_the_detector_learns_with(seed: int, stride: int, rows: int, columns: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(5, rows, columns)).astype(np.float32)
    boxes = some_boxes(rng, count, stride * max(rows, columns))
    wanted = roi_average(torch.from_numpy(values), torch.from_numpy(boxes), stride, BINS).numpy()
    np.testing.assert_allclose(map_averages(values, boxes, stride), wanted, atol=1e-5)


def test_a_box_on_one_cell_a_box_on_all_and_a_box_outside() -> None:
    values = np.array([[[1.0, 2.0], [3.0, 6.0]]], dtype=np.float32)
    boxes = np.array([[7.9, 7.9, 8.1, 8.1], [0, 0, 32, 32], [100, 100, 120, 120]], dtype=np.float32)
    np.testing.assert_allclose(map_averages(values, boxes, 16)[:, 0], [1.0, 3.0, 6.0], atol=0.02)


@pytest.mark.parametrize("cells", [1, 4, 30])
def test_the_weights_of_a_box_add_up_to_one(cells: int) -> None:
    boxes = some_boxes(np.random.default_rng(0), 20, 16.0 * cells)
    np.testing.assert_allclose(cell_weights(boxes[:, 0], boxes[:, 2], cells, 16).sum(axis=1), 1.0, atol=1e-5)


def test_a_core_has_the_same_centre_and_smaller_sides() -> None:
    boxes = np.array([[0, 0, 100, 20], [7, 9, 7, 9]], dtype=np.float32)
    wanted = np.array([[22.5, 4.5, 77.5, 15.5], [7, 9, 7, 9]])
    np.testing.assert_allclose(core_of(boxes), wanted, rtol=1e-6)


def test_cores_decide_a_quarter_of_a_cosine_and_no_length() -> None:
    features = np.array([[3, 4], [-8, 6], [0, 0]], dtype=np.float32)
    cores = np.array([[0, 2, 0], [0, 1, 1], [5, 0, 0]], dtype=np.float32)
    told = with_core(features, cores)
    np.testing.assert_allclose(np.linalg.norm(told, axis=1), [5, 10, 0], rtol=1e-6)
    np.testing.assert_allclose(told[0] @ told[1] / 50, 0.75 * 0.0 + 0.25 * 0.5**0.5, rtol=1e-6)
    assert told.dtype == np.float32
