"""From scores to detections."""

from __future__ import annotations

import numpy as np
import pytest

from samples import random_bag
from tag2box.methods.detectors import confidences, ranked_regions
from tag2box.types import ProposalBag


def test_confidence_is_the_softmax_of_the_two_logits() -> None:
    logits = np.array([-3.0, 0.0, 2.0])
    for log_lambda in (0.0, 1.5):
        expected = np.exp(logits) / (np.exp(logits) + np.exp(log_lambda))
        np.testing.assert_allclose(confidences(logits, log_lambda), expected)


def test_confidence_saturates_where_the_logits_still_rank() -> None:
    logits = np.array([400.0, 300.0, 200.0])
    assert confidences(logits).tolist() == [1.0, 1.0, 1.0]
    assert confidences(-logits[:1])[0] >= 0.0


def test_lambda_does_not_change_the_order() -> None:
    logits = np.random.default_rng(0).normal(size=50)
    orders = [np.argsort(confidences(logits, log_lambda)).tolist() for log_lambda in (-2.0, 0.0, 2.0)]
    assert orders[0] == orders[1] == orders[2]


def test_regions_are_suppressed_and_ranked_by_raw_score() -> None:
    boxes = [[0, 0, 100, 100], [0, 0, 10, 10], [0, 0, 10, 9], [50, 50, 60, 60]]
    bag = ProposalBag.from_raw("a", boxes, np.eye(4), [0.5] * 4)
    found = ranked_regions(bag, np.array([-5.0, 300.0, 301.0, 2.0]), "mug")
    assert found.scores.tolist() == [301.0, 2.0, -5.0]
    assert found.boxes[0].tolist() == [0, 0, 10, 9]
    assert set(found.labels.tolist()) == {"mug"}


def test_equal_scores_go_by_row_and_the_number_is_limited() -> None:
    bag = random_bag(np.random.default_rng(1), regions=30)
    found = ranked_regions(bag, np.zeros(30), "mug", max_overlap=1.0, max_detections=7)
    np.testing.assert_array_equal(found.boxes, bag.boxes[:7])


@pytest.mark.parametrize("max_overlap", [0.1, 0.9])
def test_more_overlap_keeps_at_least_as_many(max_overlap: float) -> None:
    bag = random_bag(np.random.default_rng(2), regions=30)
    scores = np.arange(30.0)
    assert len(ranked_regions(bag, scores, "a", max_overlap=max_overlap)) <= len(
        ranked_regions(bag, scores, "a", max_overlap=1.0)
    )
