"""The area under the ROC curve, against counting all pairs."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tag2box.evaluation import rank_separation

NUMBERS = st.lists(st.integers(0, 6), min_size=1, max_size=12)


@given(NUMBERS, NUMBERS)
def test_it_is_the_share_of_pairs_in_the_right_order(high: list[int], low: list[int]) -> None:
    pairs = [1.0 if one > other else 0.5 if one == other else 0.0 for one in high for other in low]
    found = rank_separation(np.array(high, dtype=float), np.array(low, dtype=float))
    assert math.isclose(found, sum(pairs) / len(pairs))


def test_without_one_kind_there_is_nothing_to_say() -> None:
    assert math.isnan(rank_separation(np.zeros(0), np.ones(2)))
    assert math.isnan(rank_separation(np.ones(2), np.zeros(0)))
