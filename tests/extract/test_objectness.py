"""Objectness of any box, from what is believed of the candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import random_boxes
from tag2box.arrays import log_odds
from tag2box.extract.objectness import EPSILON, Candidates, Objectness, region_signals, with_objectness


def candidates(seed: int = 0, count: int = 12) -> Candidates:
    rng = np.random.default_rng(seed)
    beliefs = rng.uniform(0.05, 0.95, size=(2, count)).astype(np.float32)
    return Candidates(random_boxes(rng, count).astype(np.float32), *beliefs)


def test_a_candidate_is_believed_as_itself() -> None:
    known = candidates()
    signals = region_signals(known.boxes, known, 100.0, 100.0)
    np.testing.assert_allclose(signals[:, 0], log_odds(known.first.astype(np.float64), EPSILON), atol=1e-6)
    np.testing.assert_allclose(signals[:, 1], log_odds(known.second.astype(np.float64), EPSILON), atol=1e-6)


def test_any_other_box_borrows_from_the_nearest_as_far_as_it_reaches() -> None:
    known = Candidates(
        np.array([[0, 0, 10, 10], [50, 50, 90, 90]], dtype=np.float32),
        np.array([0.8, 0.4], dtype=np.float32),
        np.array([0.6, 0.2], dtype=np.float32),
    )
    signals = region_signals(np.array([[0, 0, 10, 20], [0, 0, 100, 100]], dtype=np.float32), known, 100.0, 100.0)
    odds = [[0.4 / 0.6, 0.3 / 0.7], [0.064 / 0.936, 0.032 / 0.968]]  # overlaps 0.5 and 0.16
    np.testing.assert_allclose(signals[:, :2], np.log(odds), rtol=1e-5)
    sizes = np.log([np.sqrt(0.02), 1.0])
    np.testing.assert_allclose(signals[:, 2:], np.column_stack([sizes, sizes**2]), atol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_signals_are_finite_and_probabilities_are_between_0_and_1(seed: int) -> None:
    rng = np.random.default_rng(seed)
    signals = region_signals(random_boxes(rng, 9), candidates(seed), 100.0, 100.0)
    assert np.isfinite(signals).all()
    chances = Objectness(*rng.standard_normal(5).tolist())(signals)
    assert ((chances >= 0) & (chances <= 1)).all()


def test_the_weights_are_those_of_the_formula() -> None:
    signals = np.array([[1.0, 2.0, 3.0, 4.0]])
    expected = 1 / (1 + np.exp(-(0.1 + 0.4 + 0.9 + 1.6 - 1.0)))
    assert Objectness(0.1, 0.2, 0.3, 0.4, -1.0)(signals) == pytest.approx(expected)
    np.testing.assert_allclose(log_odds(np.array([0.0, 0.5, 1.0]), EPSILON), [-9.21024, 0.0, 9.21024], atol=1e-4)


def test_without_candidates_nothing_is_believed_but_the_size_is_known() -> None:
    nobody = Candidates(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32))
    signals = region_signals(np.array([[0, 0, 50, 50], [3, 3, 3, 9]], dtype=np.float32), nobody, 100.0, 100.0)
    nothing, half, least = np.log(EPSILON / (1 - EPSILON)), np.log(0.5), np.log(0.01)  # an area of at least one pixel
    np.testing.assert_allclose(signals, [[nothing, nothing, half, half**2], [nothing, nothing, least, least**2]])
    assert region_signals(np.zeros((0, 4), np.float32), candidates(), 100.0, 100.0).shape == (0, 4)


@given(st.integers(0, 2**32 - 1), st.floats(0.5, 4.0))
def test_signals_are_the_same_at_any_scale(seed: int, scale: float) -> None:
    known, regions = candidates(seed), 20.0 + random_boxes(np.random.default_rng(seed + 1), 6)
    regions[:, 2:] += 2.0  # larger than a pixel, also when it shrinks
    larger = Candidates((scale * known.boxes).astype(np.float32), known.first, known.second)
    signals = region_signals(regions, known, 100.0, 120.0)
    np.testing.assert_allclose(
        region_signals(scale * regions, larger, scale * 100.0, scale * 120.0), signals, rtol=1e-3, atol=1e-3
    )


def test_objectness_decides_its_share_of_a_cosine() -> None:
    rng = np.random.default_rng(0)
    features, objectness = rng.normal(size=(6, 5)).astype(np.float32), np.array([0.0, 0.1, 0.5, 0.9, 1.0, 0.1])
    mixed = with_objectness(features, objectness, 0.2).astype(np.float64)
    assert mixed.shape == (6, 7)
    np.testing.assert_allclose(np.linalg.norm(mixed, axis=1), np.linalg.norm(features, axis=1), rtol=1e-5)

    def cosines(rows: np.ndarray) -> np.ndarray:
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit @ unit.T

    likely = np.clip(objectness, 1e-4, 1 - 1e-4)
    alike = np.sqrt(np.outer(likely, likely)) + np.sqrt(np.outer(1 - likely, 1 - likely))
    np.testing.assert_allclose(cosines(mixed), 0.8 * cosines(features.astype(np.float64)) + 0.2 * alike, atol=1e-6)
    assert with_objectness(features, objectness, 0.0) is features
