"""Box geometry against pycocotools and against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

from samples import random_boxes
from tag2box.arrays import Array
from tag2box.boxes import (
    TOGETHER,
    Box,
    Size,
    box_areas,
    box_around,
    box_around_turned,
    box_coverage,
    box_from_percent,
    box_from_pixels,
    box_from_shares,
    box_from_sides,
    box_overlaps,
    clipped_box,
    edge_distances,
    has_area,
    paired_coverage,
    paired_overlaps,
    percent_of_box,
    pixels_of_box,
    require_boxes,
    shares_of_box,
    sides_of_box,
    suppress_overlaps,
)
from tag2box.errors import NotFiniteError, ShapeError

seeds = st.integers(0, 2**32 - 1)


def test_overlap_by_hand() -> None:
    first = np.array([[0, 0, 10, 10]])
    second = np.array([[0, 0, 10, 10], [5, 0, 15, 10], [10, 0, 20, 10], [2, 2, 4, 4]])
    assert box_overlaps(first, second)[0].tolist() == pytest.approx([1.0, 50 / 150, 0.0, 4 / 100])
    assert box_areas(second).tolist() == [100, 100, 100, 4]


def test_boxes_without_area_overlap_nothing_and_empty_input_is_fine() -> None:
    point = np.array([[3.0, 3.0, 3.0, 3.0]])
    assert box_overlaps(point, point).tolist() == [[0.0]]
    assert box_overlaps(np.zeros((0, 4)), point).shape == (0, 1)
    assert suppress_overlaps(np.zeros((0, 4)), np.zeros(0), 0.5).tolist() == []


@given(seeds)
def test_overlaps_agree_with_pycocotools(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = random_boxes(rng, 6), random_boxes(rng, 5)
    sizes = [np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1) for boxes in (first, second)]
    expected = coco_mask.iou(sizes[0], sizes[1], np.zeros(5, dtype=np.uint8))
    np.testing.assert_allclose(box_overlaps(first, second), expected, atol=1e-12)


def slow_suppression(boxes: Array, scores: Array, max_overlap: float) -> list[int]:
    """By the definition: a box stays if no better box that stays overlaps it too much."""
    kept: list[int] = []
    for row in sorted(range(len(boxes)), key=lambda r: (-scores[r], r)):
        if all(box_overlaps(boxes[[row]], boxes[[other]])[0, 0] <= max_overlap for other in kept):
            kept.append(row)
    return kept


@given(seeds, st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]), st.sampled_from([1, 12, TOGETHER, 2 * TOGETHER + 1]))
def test_suppression_follows_the_definition_with_ties_by_row(seed: int, max_overlap: float, count: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = random_boxes(rng, count)
    scores = rng.integers(0, 4, size=count).astype(float)
    expected = slow_suppression(boxes, scores, max_overlap)
    assert suppress_overlaps(boxes, scores, max_overlap).tolist() == expected
    assert suppress_overlaps(boxes, scores, max_overlap, 3).tolist() == expected[:3]


def test_an_overlap_at_the_threshold_is_kept() -> None:
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 5]])  # overlap exactly 0.5
    assert suppress_overlaps(boxes, np.array([1.0, 1.0]), 0.5).tolist() == [0, 1]
    assert suppress_overlaps(boxes, np.array([1.0, 2.0]), 0.49).tolist() == [1]


def test_turned_boxes_are_refused_by_row() -> None:
    with pytest.raises(ShapeError, match=r"box 1 is \[5.0, 5.0, 4.0, 9.0\][\s\S]*width"):
        require_boxes("boxes", np.array([[0.0, 0.0, 1.0, 1.0], [5.0, 5.0, 4.0, 9.0]]))
    with pytest.raises(NotFiniteError):
        require_boxes("boxes", np.array([[0.0, 0.0, np.nan, 1.0]]))


@given(seeds)
def test_paired_boxes_are_the_diagonal_of_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = random_boxes(rng, 5), random_boxes(rng, 5)
    assert paired_overlaps(first, second).tolist() == box_overlaps(first, second).diagonal().tolist()
    assert paired_coverage(first, second).tolist() == box_coverage(first, second).diagonal().tolist()


BOXES = st.tuples(*[st.floats(0, 500)] * 2, *[st.floats(500.5, 1000)] * 2)
SIZES = st.tuples(st.integers(1, 5000), st.integers(1, 5000))


def test_the_ways_of_others_to_write_a_box_by_hand() -> None:
    box, size = (10.0, 20.0, 40.0, 60.0), (100, 200)
    assert sides_of_box(box) == (10, 20, 30, 40)
    assert shares_of_box(box, size) == pytest.approx((0.125, 0.4, 0.15, 0.4))
    assert percent_of_box(box, size) == pytest.approx((5, 20, 15, 40))
    assert pixels_of_box((9.5, 20.0, 40.0, 60.1)) == (10, 21, 40, 61)
    assert box_from_pixels(10, 21, 40, 61, 1) == (9, 20, 40, 61)
    assert box_from_pixels(10, 21, 40, 61, 0) == (10, 21, 41, 62)


@given(BOXES, SIZES)
def test_every_way_leads_back(box: Box, size: Size) -> None:
    assert box_from_sides(*sides_of_box(box)) == pytest.approx(box)
    assert box_from_shares(*shares_of_box(box, size), size) == pytest.approx(box, abs=1e-6)
    assert box_from_percent(*percent_of_box(box, size), size) == pytest.approx(box, abs=1e-6)
    whole = box_from_pixels(*pixels_of_box(box), 1)
    assert box_from_pixels(*pixels_of_box(whole), 1) == whole
    assert all(abs(after - before) < 1 for after, before in zip(whole, box, strict=True))


def test_a_turned_box_is_as_large_as_what_is_around_it() -> None:
    box = (10.0, 10.0, 50.0, 30.0)
    assert box_around_turned(box, 720, (3.0, 4.0)) == box
    assert box_around_turned(box, 90, (30.0, 20.0)) == pytest.approx((20, 0, 40, 40))
    assert box_around_turned(box, 90, (10.0, 10.0)) == pytest.approx((-10, 10, 10, 50))  # clockwise: y grows downwards
    assert box_around([(3.0, 9.0), (1.0, 4.0), (2.0, 5.0)]) == (1, 4, 3, 9)


def test_a_box_is_cut_at_the_edges() -> None:
    assert clipped_box((-1.0, 2.0, 60.0, 41.0), (40, 50)) == (0, 2, 50, 40)
    assert has_area((0.0, 2.0, 50.0, 40.0))
    assert not has_area(clipped_box((60.0, 1.0, 70.0, 2.0), (40, 50)))


def test_the_farthest_edge_tells_how_far_boxes_are_apart() -> None:
    boxes = np.array([[0, 0, 10, 10], [1, 2, 10, 7]], dtype=np.float32)
    np.testing.assert_allclose(edge_distances(boxes, (0.0, 0.0, 10.0, 10.5)), [0.5, 3.5])
