"""Recall of regions, by the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from samples import random_boxes
from tag2box.boxes import box_overlaps
from tag2box.evaluation import first_covering, recall_at, size_groups


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5, 0.7]))
def test_the_first_covering_region_by_the_definition(seed: int, min_overlap: float) -> None:
    rng = np.random.default_rng(seed)
    regions, objects = random_boxes(rng, 20), random_boxes(rng, 4)
    for thing, rank in zip(objects, first_covering(regions, objects, min_overlap), strict=True):
        enough = [box_overlaps(thing[None], region[None])[0, 0] >= min_overlap for region in regions]
        assert rank == (enough.index(True) if any(enough) else np.inf)


def test_recall_counts_objects_and_grows_with_regions() -> None:
    ranks = np.array([0.0, 9.0, 10.0, np.inf])
    assert recall_at(ranks, [1, 10, 11, 300]) == {1: 0.25, 10: 0.5, 11: 0.75, 300: 0.75}
    assert np.isnan(recall_at(np.zeros(0), [5])[5])


def test_without_regions_nothing_is_covered() -> None:
    assert first_covering(np.zeros((0, 4)), np.array([[0.0, 0.0, 1.0, 1.0]])).tolist() == [np.inf]
    assert first_covering(np.array([[0.0, 0.0, 1.0, 1.0]]), np.zeros((0, 4))).tolist() == []


def test_sizes_are_those_of_coco() -> None:
    sides = np.array([31.9, 32.0, 95.9, 96.0])
    boxes = np.stack([np.zeros(4), np.zeros(4), sides, sides], axis=1)
    groups = {name: np.flatnonzero(mask).tolist() for name, mask in size_groups(boxes).items()}
    assert groups == {"small": [0], "medium": [1, 2], "large": [3]}
