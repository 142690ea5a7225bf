"""The loss and its gradient by the definition and by finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from samples import random_units
from tag2box.arrays import Array
from tag2box.methods.detectors import CosineLoss

seeds = st.integers(0, 2**32 - 1)


def some_loss(seed: int, classes: int = 3, tau: float = 20.0) -> CosineLoss:
    rng = np.random.default_rng(seed)
    shares = rng.uniform(size=(15, classes)) * (rng.uniform(size=(15, classes)) > 0.3)
    shares[0] = 1.0
    signs = np.where(rng.uniform(size=(15, classes)) > 0.5, 1.0, -1.0)
    return CosineLoss(random_units(rng, 15, 4), signs, shares / shares.sum(axis=0), tau)


def slow_value(loss: CosineLoss, v: Array, c: int) -> float:
    """(9.2), region by region."""
    total = 0.0
    for x, sign, share in zip(loss.features, loss.signs[:, c], loss.shares[:, c], strict=True):
        score = loss.tau * float(v @ x) / float(np.linalg.norm(v))
        probability = 1.0 / (1.0 + math.exp(-score))
        total -= share * math.log(probability if sign > 0 else 1.0 - probability)
    return total


@given(seeds)
def test_values_by_the_definition(seed: int) -> None:
    loss = some_loss(seed)
    v = np.random.default_rng(seed).normal(size=(3, 4))
    expected = [slow_value(loss, v[c], c) for c in range(3)]
    np.testing.assert_allclose(loss.at(v).values, expected, rtol=1e-6)


@given(seeds)
def test_gradients_by_finite_differences(seed: int) -> None:
    loss = some_loss(seed, tau=5.0)
    v = np.random.default_rng(seed).normal(size=(3, 4))
    found = loss.at(v).gradients
    for c in range(3):
        expected = approx_fprime(v[c], lambda w, c=c: slow_value(loss, w, c), 1e-7)
        np.testing.assert_allclose(found[c], expected, atol=1e-4)


@given(seeds)
def test_the_length_of_v_does_not_matter(seed: int) -> None:
    loss = some_loss(seed)
    v = np.random.default_rng(seed).normal(size=(3, 4))
    np.testing.assert_allclose(loss.at(3.0 * v).values, loss.at(v).values)
    np.testing.assert_allclose((loss.at(v).gradients * v).sum(axis=1), 0.0, atol=1e-12)


@given(seeds, st.floats(0.0, 2.0))
def test_a_line_agrees_with_the_point_at_its_end(seed: int, step: float) -> None:
    loss, rng = some_loss(seed), np.random.default_rng(seed)
    v, p = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    lines = loss.at(v).lines(p)
    end = lines.end(np.full(3, step))
    np.testing.assert_allclose(end.values, loss.at(v + step * p).values, rtol=1e-9)
    for c in range(3):
        here = lines.along(c)(step)
        assert here.value == pytest.approx(end.values[c], rel=1e-9, abs=1e-12)
        assert here.slope == pytest.approx(float(end.gradients[c] @ p[c]), rel=1e-6, abs=1e-9)


def test_extreme_scores_do_not_overflow() -> None:
    loss = some_loss(0, tau=1e5)
    point = loss.at(np.random.default_rng(0).normal(size=(3, 4)))
    assert np.isfinite(point.values).all()
    assert np.isfinite(point.gradients).all()
