"""Ragged stacks and the softmax within each image."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from tag2box.errors import ShapeError
from tag2box.methods.localizers import softmax_by_image, stack_views
from tag2box.methods.view import View

ragged = st.lists(st.lists(st.floats(-800, 800), min_size=1, max_size=6), min_size=1, max_size=6)


@given(ragged)
def test_softmax_by_image_agrees_with_scipy(images: list[list[float]]) -> None:
    lengths = [len(image) for image in images]
    starts = np.cumsum([0, *lengths[:-1]])
    weights, log_sums = softmax_by_image(np.concatenate(images), starts)
    np.testing.assert_allclose(weights, np.concatenate([softmax(image) for image in images]), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(log_sums, [logsumexp(image) for image in images], rtol=1e-12, atol=1e-12)


def test_an_image_without_allowed_rows_has_no_weight() -> None:
    evidence = np.array([1.0, 1.0, -np.inf, -np.inf, -np.inf, 3.0])
    weights, log_sums = softmax_by_image(evidence, np.array([0, 2, 4]))
    assert weights.tolist() == [0.5, 0.5, 0.0, 0.0, 0.0, 1.0]
    assert log_sums.tolist() == [1.0 + np.log(2.0), -np.inf, 3.0]


def test_a_stack_knows_where_each_image_is() -> None:
    features = [np.ones((2, 3)), np.zeros((1, 3)), np.full((3, 3), 2.0)]
    stack = stack_views(
        list(map(View, features, [np.zeros(2), np.ones(1), np.zeros(3)])),
        [np.zeros(2), np.full(1, -np.inf), np.array([-np.inf, 0.0, -np.inf])],
    )
    assert stack.offsets.tolist() == [0, 2, 3, 6]
    assert stack.starts.tolist() == [0, 2, 3]
    assert stack.present.tolist() == [0, 2]
    assert [part.tolist() for part in stack.split(np.arange(6.0))] == [[0, 1], [2], [3, 4, 5]]
    for view, rows in zip(stack.views(), features, strict=True):
        np.testing.assert_array_equal(view.features, rows)
        assert view.features.base is not None  # a part of the stack, not a copy


def test_different_dimensions_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"different dimensions: \[3, 4\]"):
        stack_views([View(np.ones((2, d)), np.zeros(2)) for d in (3, 4)], [np.zeros(2)] * 2)
