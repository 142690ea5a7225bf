"""Images beside each other, and what EM expects of them."""

from __future__ import annotations

import numpy as np
import pytest

from samples import random_bags, random_units
from tag2box.errors import ShapeError
from tag2box.methods.localizers import stack_views
from tag2box.methods.view import View
from tag2box.rows import Directions, Lens, Rows


def plain(rows: Rows) -> Directions:
    return Directions.of(rows, rows.shape[1], np.ones(len(rows)))


def test_a_stack_knows_where_each_image_is() -> None:
    features = [np.ones((2, 3)), np.zeros((1, 3)), np.full((3, 3), 2.0)]
    stack = stack_views(
        list(map(View, map(plain, features), [np.zeros(2), np.ones(1), np.zeros(3)])),
        [np.zeros(2), np.full(1, -np.inf), np.array([-np.inf, 0.0, -np.inf])],
    )
    assert stack.offsets.tolist() == [0, 2, 3, 6]
    assert stack.present.tolist() == [0, 2]
    assert stack.dimension == 3
    assert [part.tolist() for part in stack.split(np.arange(6.0))] == [[0, 1], [2], [3, 4, 5]]
    np.testing.assert_array_equal(stack.mean_of([(0, 1), (2, 2)]), np.full(3, 1.5))


def test_expectations_through_a_lens_are_those_of_the_directions_themselves() -> None:
    rng, lens = np.random.default_rng(0), Lens(np.full(5, 0.1), np.full(5, -0.2), np.eye(5) + 0.3)
    seen = [bag.through(lens).directions for bag in random_bags(0)]
    background = [rng.standard_normal(len(each)) for each in seen]
    allowed = [np.where(rng.uniform(size=len(each)) < 0.2, -np.inf, 0.0) for each in seen]
    theta = random_units(rng, 1, 5)[0]
    found = stack_views(list(map(View, seen, background)), allowed).expect(theta, 7.0)
    dense = [plain(each.dense().astype(np.float64)) for each in seen]
    expected = stack_views(list(map(View, dense, background)), allowed).expect(theta, 7.0)
    for value, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, other, atol=2e-5)


def test_different_dimensions_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"different dimensions: \[3, 4\]"):
        stack_views([View(plain(np.ones((2, d))), np.zeros(2)) for d in (3, 4)], [np.zeros(2)] * 2)
