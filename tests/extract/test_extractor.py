"""A proposer and a describer, neither of which knows the other, make a bag together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tag2box.arrays import Float32s
from tag2box.extract import Extracted, Look, Proposed, SeenPhoto, as_photo
from tag2box.extract.extractor import assembled
from tag2box.extract.proposals import whole_look

NONE = np.zeros((0, 4), dtype=np.float32)


@dataclass(frozen=True)
class BySize:
    """Describes a box by its width and height in the first view."""

    dimension: int = 2

    def features(self, seen: SeenPhoto, boxes: Float32s) -> Float32s:
        """(n, 2)"""
        return boxes[:, 2:] - boxes[:, :2]


def bag_of(height: int, width: int, *boxes: list[float], side: int = 480) -> Extracted:
    """What is said of boxes in the first view of a photo, behind the whole of it."""
    photo = as_photo(np.zeros((height, width, 3), dtype=np.uint8), side)
    rows, columns = photo.pixels.shape[:2]
    seen = SeenPhoto(photo, (Look((side, side), rows, columns, NONE, NONE[:, 0], {}),))
    regions = np.concatenate([whole_look(seen), np.array([*boxes, *NONE], dtype=np.float32).reshape(-1, 4)])
    return assembled(seen, "photo", Proposed(regions, np.full(len(regions), 0.5)), BySize())


@pytest.mark.parametrize(("height", "width"), [(3024, 4032), (375, 500), (333, 500), (4032, 3024), (187, 270), (1, 1)])
def test_the_first_row_has_the_exact_size_of_the_photo(height: int, width: int) -> None:
    """Scaled down and up again in single precision, 500 pixels are 499.99997."""
    found = bag_of(height, width)
    assert (found.height, found.width) == (height, width)
    assert found.bag.boxes.tolist() == [[0, 0, width, height]]
    assert found.bag.size == (height, width)


def test_sizes_that_scaling_would_spoil_are_among_these() -> None:
    scaled = np.float32(480) * np.float32(500 / 480)
    assert int(scaled) == 499


def test_boxes_are_described_in_the_view_and_given_in_the_photo() -> None:
    found = bag_of(240, 960, [0, 0, 40, 30], [100, 20, 480, 120], side=480)
    assert found.bag.boxes.tolist() == [[0, 0, 960, 240], [0, 0, 80, 60], [200, 40, 960, 240]]
    np.testing.assert_allclose(found.bag.features[1], [0.8, 0.6])
    np.testing.assert_allclose(found.bag.norms, [np.hypot(480, 120), 50, np.hypot(380, 100)], rtol=1e-6)
